#!/usr/bin/env python3
"""Tries the goals of network_cases.py and the rows of network_table.py on figures that were made up."""

from __future__ import annotations

import json
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any

from network import crowd as network_crowd
import network_table
from network.cases import CASES
from network.figures import Fall, Seen

GOOD = Seen(120, 99.9, 0, 0.0, 0, 0.05, 30, 60, 1500, 98, ["1280x720"])
LOW = Fall(1.0, True, 0, 0.1, 200, 15, 350, 250, ["640x360"], 4)


def case(name: str) -> Any:
    return next(case for case in CASES if case.name == name)


def result(name: str, peer: str, seen: Seen, seed: int = 1) -> dict[str, Any]:
    return {
        "case": name, "peer": peer, "seed": seed, "seconds": 120, "time": 0, "load": 0.1, "busyPercent": 40, "seen": seen,
        "short": case(name).judge(seen),
    }  # fmt: skip


class Goals(unittest.TestCase):
    def test_a_loss_is_judged_by_pictures_freezes_sound_and_rate(self) -> None:
        judge = case("loss-10").judge
        self.assertEqual(judge(GOOD), [])
        self.assertEqual(
            judge(replace(GOOD, pictures_percent=97.9, longest_freeze_ms=301, concealed_percent=0.5, rate_kept_percent=79)),
            ["pictures < 98 %", "freeze > 300 ms", "concealed ≥ 0.5 %", "rate at the end < 80 %"],
        )
        self.assertEqual(case("loss-2").judge(replace(GOOD, longest_freeze_ms=160)), ["a freeze"])

    def test_each_blackout_may_cost_one_freeze(self) -> None:
        judge = case("blackout").judge
        self.assertEqual(judge(replace(GOOD, freezes=12, longest_freeze_ms=400)), [])
        self.assertEqual(judge(replace(GOOD, freezes=13, longest_freeze_ms=401)), ["more than one freeze each", "freeze > 400 ms"])

    def test_a_low_rate_is_judged_by_delay_pictures_and_return(self) -> None:
        judge = case("rate-500").judge
        self.assertEqual(judge(replace(GOOD, fall=LOW)), [])
        self.assertEqual(
            judge(replace(GOOD, fall=replace(LOW, settled_s=3, empty_seconds=1, back_s=None))),
            ["p95 ≥ 300 ms after 2 s", "seconds without a picture", "not back in 6 s"],
        )
        self.assertEqual(judge(replace(GOOD, fall=replace(LOW, settled_s=None))), ["p95 ≥ 300 ms after 2 s"])
        self.assertEqual(case("rate-500-deep").judge(replace(GOOD, fall=replace(LOW, settled_s=3))), [])
        low = replace(LOW, concealed_percent=2, settled_s=9)
        self.assertEqual(case("rate-60").judge(replace(GOOD, fall=low)), [])
        self.assertEqual(case("rate-60").judge(replace(GOOD, concealed_percent=1, fall=low)), ["concealed ≥ 1 %"])

    def test_rates_fall_and_come_back_within_the_run(self) -> None:
        network = case("rate-500-deep").network(120)
        self.assertEqual([network.rate_at(at) for at in (-1, 19, 20, 79, 81, 500)], [3000, 3000, 500, 500, 3000, 3000])
        self.assertEqual(case("rate-500-deep").falls(120), (20, 80))

    def test_the_many_lose_nothing_by_the_few(self) -> None:
        alone = {"leastFramesPerSecond": 29.9, "keyFrames": 0, "kbpsEach": 1500, "meanTargetKbps": 1500}
        self.assertEqual(network_crowd.compared(alone, alone | {"kbpsEach": 1430, "meanTargetKbps": 1430}, alone), [])
        self.assertEqual(
            network_crowd.compared(
                alone, {"leastFramesPerSecond": 29.4, "keyFrames": 2, "kbpsEach": 1200, "meanTargetKbps": 1350}, alone),
            ["29.4 frames/s", "2 key frames more", "rate -20 %", "target -10 %"],
        )
        # It has fallen, and stays low when the two have gone.
        self.assertEqual(network_crowd.compared(alone, alone | {"kbpsEach": 1350}, alone | {"kbpsEach": 1340}), [])

    def test_turns_are_one_time_with_the_worst_of_what_must_not_happen(self) -> None:
        rates = {name: 0.2 for name in ("meanFramesPerSecond", "packetsPerSecond", "encodedPerSecond", "encoderCores")}
        first = rates | {"times": [(1, 2)], "leastFramesPerSecond": 29.9, "keyFrames": 0, "childCores": 0.2}
        second = rates | {"times": [(5, 6)], "leastFramesPerSecond": 29.0, "keyFrames": 1, "childCores": 0.3}
        found = network_crowd.merged([second, first])
        self.assertEqual((found["times"], found["leastFramesPerSecond"], found["keyFrames"]), ([(5, 6), (1, 2)], 29.0, 1))
        self.assertEqual((found["childCores"], found["encoderCores"]), (0.25, 0.2))

    def test_what_each_further_viewer_costs(self) -> None:
        one = {"viewers": 1, "childCores": 0.2, "encoderCores": 0.1}
        many = {"viewers": 32, "childCores": 0.231, "encoderCores": 0.1, "leastFramesPerSecond": 29.9}
        self.assertEqual(network_crowd.costs(one, many), (1.0, 1.0, []))
        self.assertEqual(network_crowd.costs(one, many | {"childCores": 0.262, "encoderCores": 0.131}), (2.0, 1.0, []))
        self.assertEqual(
            network_crowd.costs(one, many | {"childCores": 0.293, "leastFramesPerSecond": 29.1}),
            (3.0, 3.0, ["29.1 frames/s", "3.0 % of the encoding each"]),
        )


class Rows(unittest.TestCase):
    def test_the_worst_seed_counts_and_who_is_better_is_named(self) -> None:
        results = [
            result("loss-10", "ours", GOOD), result("loss-10", "ours", replace(GOOD, pictures_percent=97, concealed_percent=0.3), 2),
            result("loss-10", "webrtcbin", replace(GOOD, pictures_percent=98, concealed_percent=9)),
        ]  # fmt: skip
        row = network_table.row(case("loss-10"), results).split(" | ")
        self.assertTrue(row[3].startswith("97.0 %; no freeze; 0.30 % filled in"))
        self.assertIn("**short**: pictures < 98 %", row[3])
        self.assertIn("**behind**: pictures (webrtcbin)", row[3])
        self.assertIn("9.00 % filled in", row[4])
        self.assertEqual(row[5:7], ["–", "–"])

    def test_a_crowds_row_is_its_worst_run(self) -> None:
        part = {"leastFramesPerSecond": 30.0, "encodedPerSecond": 30.0, "kbpsEach": 1500, "keyFrames": 0, "childCores": 0.2, "encoderCores": 0.1}
        run = {"one": part, "alone": part, "addedPercent": 1.4, "withoutEncoderPercent": 1.2, "turnsPercent": [1.0, 1.8], "short": []}
        crowd = next(crowd for crowd in network_crowd.CROWDS if crowd.name == "crowd-32")
        worse = run | {"addedPercent": 2.1, "short": ["2.1 % of the encoding each"]}
        for results in ([run, worse], [worse, run]):
            self.assertIn("each costs 2.1 %", network_table.cell(crowd, results))
            self.assertIn("**short**", network_table.cell(crowd, results))
        self.assertIn("in turns 1.0, 1.8)", network_table.cell(crowd, [run]))
        self.assertIn("each costs 1.9 %", network_table.cell(crowd, [run | {"addedPercent": 1.9}, run]))

    def test_our_viewer_is_compared_with_chromium_silence_included(self) -> None:
        chromium = replace(GOOD, concealed_percent=0.4, concealed_with_silence_percent=0.6)
        ours = replace(GOOD, pictures_percent=99, concealed_percent=0.65, concealed_with_silence_percent=0.65)
        row = network_table.row(case("loss-10"), [result("loss-10", "ours", chromium), result("loss-10", "parent", ours)]).split(" | ")
        self.assertIn("0.40 % filled in (0.60 % with silence)", row[3])
        self.assertIn("0.65 % filled in;", row[6])
        self.assertIn("**behind**: pictures (Chromium)", row[6])
        self.assertNotIn("sound (", row[6])

    def test_what_was_written_down_makes_the_same_row(self) -> None:
        known = result("rate-500", "ours", replace(GOOD, fall=LOW))
        document = json.loads(json.dumps(known | {"seen": known["seen"].document()}))
        self.assertEqual(network_table.lines([network_table.restored(document)]), network_table.lines([known]))

    def test_only_rows_that_were_tried_are_renewed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(f"before\n{network_table.BEGIN}\n{network_table.END}\nafter\n")
            network_table.write(page, [result("loss-10", "ours", GOOD), result("loss-5", "ours", GOOD)])
            network_table.write(page, [result("loss-10", "ours", replace(GOOD, pictures_percent=50))])
            lines = page.read_text().splitlines()
        self.assertEqual([line.split(" | ")[0] for line in lines[4:6]], ["| loss-5", "| loss-10"])
        self.assertIn("99.9 %", lines[4])
        self.assertIn("50.0 %", lines[5])
        self.assertEqual((lines[0], lines[-2], lines[-1]), ("before", network_table.END, "after"))


if __name__ == "__main__":
    unittest.main()
