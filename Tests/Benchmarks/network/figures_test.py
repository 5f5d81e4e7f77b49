#!/usr/bin/env python3
"""Tries figures.py on records that were made up; needs no network and no time. `python3 -m unittest network.figures_test`"""

from __future__ import annotations

import unittest
from typing import Any, Callable

from network.figures import Counter, beside, freezes, of_browser, of_parent, seen

STARTED = 1_800_000_000.0


def browser(shown: list[float], delay: Callable[[float], float], kbps: Callable[[float], float], made_up: float = 0.0) -> dict[str, Any]:
    """A viewer to whom these pictures were shown, each so many ms old, with a share of the sound made up from 0 on."""
    pictures, samples, bytes, concealed = [], [], 0.0, 0.0
    for time in shown:
        wall = (STARTED + time) * 1000
        pictures.append([wall, int(wall - delay(time)) % 2**32, 1, 1280, 720])
    for half in range(-8, 300):
        time = half / 2
        samples.append({
            "time": (STARTED + time) * 1000,
            "video": {"framesDecoded": sum(1 for at in shown if at <= time), "bytesReceived": bytes},
            "audio": {
                "totalSamplesReceived": (time + 4) * 48_000, "concealedSamples": concealed * 1.2 + 480,
                "silentConcealedSamples": concealed * 0.2 + 480,
            },
        })  # fmt: skip
        bytes += kbps(time) * 1000 / 8 / 2
        concealed += made_up * 24_000 if time >= 0 else 0
    return {"pictures": pictures, "samples": samples}


def times(begin: float, end: float, rate: float = 30) -> list[float]:
    return [begin + number / rate for number in range(round((end - begin) * rate))]


class Figures(unittest.TestCase):
    def test_a_good_network_has_every_picture_and_no_freeze(self) -> None:
        found = seen(of_browser(browser(times(-4, 20), lambda _: 40, lambda _: 1500), STARTED, 20), 20)
        self.assertAlmostEqual(found.pictures_percent, 100, delta=0.5)
        self.assertEqual((found.freezes, found.longest_freeze_ms, found.sizes), (0, 0, ["1280x720"]))
        self.assertAlmostEqual(found.delay_p50_ms, 40, delta=1)
        self.assertAlmostEqual(found.video_kbps, 1500, delta=1)
        self.assertEqual(found.rate_kept_percent, 100)
        self.assertEqual(found.concealed_percent, 0)
        self.assertEqual([second.at for second in found.series], list(range(-4, 20)))

    def test_a_gap_is_one_freeze_of_its_length_and_a_low_frame_rate_is_none(self) -> None:
        shown = times(-4, 5) + times(5.4, 10) + times(10, 20, rate=8)
        found = seen(of_browser(browser(shown, lambda _: 40, lambda _: 1500), STARTED, 20), 20)
        self.assertEqual(found.freezes, 1)
        self.assertAlmostEqual(found.longest_freeze_ms, 433, delta=2)
        self.assertEqual(freezes([], 5), [])

    def test_what_a_limit_lets_through_counts_after_the_time_to_find_it_out(self) -> None:
        def second(at: int, udp: int, dropped: int, tcp: int) -> dict[str, int]:
            return {
                "second": at, "udp_all": udp, "udp_dropped": dropped, "udp_all_bytes": udp * 1250, "udp_dropped_bytes": dropped * 1250,
                "tcp_all": tcp, "tcp_dropped": 0, "tcp_all_bytes": tcp * 1250, "tcp_dropped_bytes": 0,
            }  # fmt: skip

        carried = [second(at, 200, 100, 0) for at in range(10)] + [second(at, 100, 5, 105) for at in range(10, 20)]
        found = beside(carried, [(3, 2.0), (15, 0.4)], 2000, 10, [(5, 4000), (12, 900), (18, 1100)])
        self.assertEqual((found.lost_percent, found.call_kbps, found.downloads_kbps), (5, 950, 1050))
        self.assertEqual((found.call_percent, found.downloads_percent), (47.5, 52.5))
        self.assertEqual((found.freezes, found.longest_freeze_ms, found.estimate_percent), (1, 400, (45, 55)))

    def test_a_picture_that_never_comes_again_is_a_freeze(self) -> None:
        found = seen(of_browser(browser(times(-4, 5), lambda _: 40, lambda _: 1500), STARTED, 20), 20)
        self.assertAlmostEqual(found.frozen_seconds, 15, delta=0.1)

    def test_sound_that_is_made_up_counts_from_the_bad_network_on(self) -> None:
        found = seen(of_browser(browser(times(-4, 20), lambda _: 40, lambda _: 1500, made_up=0.05), STARTED, 20), 20)
        self.assertAlmostEqual(found.concealed_percent, 5, delta=0.01)
        self.assertAlmostEqual(found.concealed_with_silence_percent, 6, delta=0.01)

    def test_a_fall_tells_when_the_delay_was_short_again_and_when_all_was_back(self) -> None:
        # Falls at 10; late until 13, nothing from 17 to 19.5; back at 40, where it takes 4 s.
        shown = times(-4, 17) + times(19.5, 60)
        result = browser(
            shown, lambda at: 800 if 10 <= at < 12.8 else 50, lambda at: 1500 if at < 10 or at >= 44 else 400
        )
        fall = seen(of_browser(result, STARTED, 60), 60, (10, 40)).fall
        self.assertIsNotNone(fall)
        self.assertEqual((fall.settled_s, fall.empty_seconds, fall.is_aged), (3, 2, True))
        self.assertEqual(fall.back_s, 5)
        self.assertAlmostEqual(fall.video_kbps, 400, delta=1)
        never = browser(shown, lambda at: 800 if 10 <= at < 50 else 50, lambda at: 1500 if at < 10 else 400)
        fall = seen(of_browser(never, STARTED, 60), 60, (10, 40)).fall
        self.assertEqual((fall.settled_s, fall.back_s), (None, None))
        # Late pictures, and then none at all until the rate is back.
        shown = times(-4, 13) + times(41, 60)
        gone = browser(shown, lambda at: 800 if 10 <= at < 13 else 50, lambda at: 1500)
        fall = seen(of_browser(gone, STARTED, 60), 60, (10, 40)).fall
        self.assertEqual((fall.settled_s, fall.empty_seconds), (None, 26))

    def test_the_parent_tells_the_same_from_its_lines(self) -> None:
        lines, frames, frozen = [], 0, 0.0
        for second in range(-5, 31):
            frames += 30 if second != 12 else 15
            frozen += 500 if second == 12 else 0
            # 2 % of the sound from 0 on, of all since the beginning.
            share = max(0, second) * 2 / (second + 6)
            lines.append((STARTED + second, {
                "state": "watching", "framesDecoded": frames, "freezeMs": frozen, "videoKbps": 1000, "audioKbps": 32,
                "concealedPercent": share, "width": 1280, "height": 720,
            }))  # fmt: skip
        found = seen(of_parent(lines, STARTED), 30)
        self.assertAlmostEqual(found.pictures_percent, (29 * 30 + 15) / 9, delta=0.01)
        self.assertEqual((found.freezes, found.longest_freeze_ms), (1, 500))
        self.assertAlmostEqual(found.concealed_percent, 2, delta=0.01)
        self.assertEqual(found.concealed_with_silence_percent, found.concealed_percent)
        self.assertAlmostEqual(found.video_kbps, 1000, delta=1)
        self.assertIsNone(found.delay_p50_ms)

    def test_a_counter_grows_evenly_between_what_is_known(self) -> None:
        counter = Counter([(0, 0), (1, 10), (1, 12), (3, 30)])
        self.assertEqual([counter.at(time) for time in (-1, 0.5, 1, 2, 9)], [0, 5, 10, 20, 30])


if __name__ == "__main__":
    unittest.main()
