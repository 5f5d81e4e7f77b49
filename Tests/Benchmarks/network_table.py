#!/usr/bin/env python3
"""What network_bench.py measured, for people: the worst seed of each case, who sends beside whom.

    network_table.py RESULTS.json … [--write docs/NETWORK.md]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, Callable, Sequence

from network.cases import CASES, Case
from network.crowd import CROWDS, Crowd
from network.figures import Fall, Second, Seen
from network.moves import MOVES, Move

BEGIN, END = "<!-- table: Tests/Benchmarks/network_bench.py --write -->", "<!-- end of table -->"
#: In the order of the columns.
PEERS = {
    "ours": "Cradle → Chromium",
    "webrtcbin": "webrtcbin → Chromium",
    "libwebrtc": "Chromium → Chromium",
    "parent": "Cradle → cradle-parent",
}
#: Of both processors together. The runs alone need about half.
BUSY_PERCENT = 90
HEADER = [
    "| case | network | to reach | " + " | ".join(PEERS.values()) + " | measured |",
    "| --- | --- | --- |" + " --- |" * len(PEERS) + " --- |",
]


def worst(values: Sequence[float | None], choose: Callable[[Sequence[float]], float]) -> float | None:
    known = [value for value in values if value is not None]
    return choose(known) if known else None


def text(value: float | None, form: str) -> str:
    return "?" if value is None else form % value


def moved(result: dict[str, Any]) -> str:
    again = result["heardAgainSeconds"]
    return "not heard again" if again is None else f"heard again after {again:.1f} s, silent for {result['silentSeconds']:.1f} s of them"


def crowded(result: dict[str, Any]) -> str:
    def words(found: dict[str, Any]) -> str:
        return (
            f"{found['leastFramesPerSecond']:.1f} frames/s at least of {found['encodedPerSecond']:.1f} encoded, "
            f"{found['kbpsEach']:.0f} kbit/s each, {found['keyFrames']} key frames, {found['childCores']:.2f} of a core"
        )

    if "together" not in result:
        turns = ", ".join(f"{percent:.1f}" for percent in result.get("turnsPercent", []))
        return (
            f"one alone {words(result['one'])} ({result['one']['encoderCores']:.2f} for encoding); all {words(result['alone'])}; "
            f"each costs {result['addedPercent']:.1f} % of the encoding ({result['withoutEncoderPercent']:.1f} % without what the encoder itself differs by"
            f"{f'; in turns {turns}' if turns else ''})"
        )
    text = f"alone {words(result['alone'])}; with the two {words(result['together'])}"
    if "after" not in result:
        return text
    targets = ", ".join(f"{result[name]['meanTargetKbps']:.0f}" for name in ("alone", "together", "after"))
    return f"{text}; alone again {result['after']['kbpsEach']:.0f} kbit/s each; the encoder's target {targets} kbit/s"


def in_words(result: dict[str, Any]) -> str:
    return moved(result) if "heardAgainSeconds" in result else crowded(result)


def cell(case: Case | Move | Crowd, results: Sequence[dict[str, Any]]) -> str:
    """The worst of each figure, whichever seed it was."""
    if not results:
        return "–"
    if problems := [result["problem"] for result in results if "problem" in result]:
        return "failed: " + problems[0].replace("|", "/").replace("\n", " ")[:80]
    if isinstance(case, Move):
        slowest = max(results, key=lambda result: result["heardAgainSeconds"] if result["heardAgainSeconds"] is not None else float("inf"))
        return moved(slowest) + ("; **short**: " + slowest["short"][0] if slowest["short"] else "; met")
    if isinstance(case, Crowd):
        frames = [result.get("together", result["alone"])["leastFramesPerSecond"] for result in results]
        worst_run = max(zip(results, frames), key=lambda one: (len(one[0]["short"]), one[0].get("addedPercent", 0), -one[1]))[0]
        return crowded(worst_run) + ("; **short**: " + ", ".join(worst_run["short"]) if worst_run["short"] else "; met")
    seen: list[Seen] = [result["seen"] for result in results]
    pictures = worst([one.pictures_percent for one in seen], min)
    count, longest = max(one.freezes for one in seen), max(one.longest_freeze_ms for one in seen)
    freezes = f"{count} freezes, longest {longest:.0f} ms" if count else "no freeze"
    made_up, with_silence = (
        worst([getattr(one, name) for one in seen], max) for name in ("concealed_percent", "concealed_with_silence_percent")
    )
    concealed = text(made_up, "%.2f %% filled in")
    if made_up is not None and with_silence is not None and with_silence >= made_up + 0.005:
        concealed += f" ({with_silence:.2f} % with silence)"
    delay = "/".join(text(worst([getattr(one, f"delay_{share}_ms") for one in seen], max), "%.0f") for share in ("p50", "p95"))
    parts = [text(pictures, "%.1f %%"), freezes, concealed, f"{delay} ms"]
    sizes = list(dict.fromkeys(size for one in seen for size in one.sizes))
    if sizes != ["1280x720"]:
        parts.append(" ".join(sizes))
    falls = [one.fall for one in seen if one.fall]
    if falls:
        settled = [fall.settled_s for fall in falls]
        back = [fall.back_s for fall in falls]
        parts += [
            f"while low {min(fall.frames_per_second for fall in falls):.1f} frames/s, "
            + text(worst([fall.concealed_percent for fall in falls], max), "%.2f %% filled in"),
            "short again after " + ("?" if not falls[0].is_aged else "never" if None in settled else f"{worst(settled, max):.0f} s"),
            f"{max(fall.empty_seconds for fall in falls)} s without a picture",
            "back in " + ("never" if None in back else f"{worst(back, max):.0f} s"),
        ]
    elif beside := [one.beside for one in seen if one.beside]:
        parts.append(f"after the start {max(one.frozen_seconds for one in beside):.1f} s frozen, {max(one.lost_percent for one in beside):.1f} % lost")
        parts.append(f"{min(one.call_percent for one in beside):.0f} to {max(one.call_percent for one in beside):.0f} % of the limit")
        if any(one.downloads_percent > 1 for one in beside):
            parts.append(f"downloads {min(one.downloads_percent for one in beside):.0f} to {max(one.downloads_percent for one in beside):.0f} %")
        estimates = [bound for one in beside if one.estimate_percent for bound in one.estimate_percent]
        if estimates:
            parts.append(f"estimate {min(estimates):.0f} to {max(estimates):.0f} %")
    else:
        parts.append("rate kept " + text(worst([one.rate_kept_percent for one in seen], min), "%.0f %%"))
    if alarms := list(dict.fromkeys(kind for result in results for kind in result.get("alarms", []))):
        parts.append("alarm: " + ", ".join(f"`{kind}`" for kind in alarms))
    short = list(dict.fromkeys(reason for result in results for reason in result["short"]))
    if case.goal != "–":
        parts.append("**short**: " + ", ".join(short) if short else "met")
    return "; ".join(parts)


#: By how much somebody else has to be better before it counts: a run is not exact to a picture.
TOLERANCES: tuple[tuple[str, str, int, float], ...] = (
    ("pictures", "pictures_percent", 1, 0.5),
    ("frozen", "frozen_seconds", -1, 0.1),
    ("sound", "concealed_percent", -1, 0.1),
)


#: Of our viewer against Chromium, both with Cradle as the sender: it counts silence in place of what is missing as filled in.
PARENT_TOLERANCES = (*TOLERANCES[:2], ("sound", "concealed_with_silence_percent", -1, 0.1))


def behind(results: Sequence[dict[str, Any]], peer: str, others: dict[str, str], tolerances: tuple[tuple[str, str, int, float], ...]) -> str:
    """In what a peer's picture or sound is worse than that of `others` (with their names) over the same network, the worst of
    the seeds each."""

    def figure(peer: str, name: str, sign: int) -> float | None:
        return worst([getattr(one["seen"], name) for one in results if one["peer"] == peer and "seen" in one], min if sign > 0 else max)

    found = []
    for other, called in others.items():
        for label, name, sign, tolerance in tolerances:
            ours, theirs = figure(peer, name, sign), figure(other, name, sign)
            if ours is not None and theirs is not None and sign * (theirs - ours) > tolerance:
                found.append(f"{label} ({called})")
    return "**behind**: " + ", ".join(found) if found else ""


def row(case: Case | Move | Crowd, results: Sequence[dict[str, Any]]) -> str:
    measured = [result for result in results if "problem" not in result]
    how = "–"
    if measured:
        busy = [result["busyPercent"] for result in measured]
        seeds = {result["seed"] for result in measured}
        loads = [result["load"] for result in measured]
        together = measured[0].get("atOnce", 1)
        at_once = f", {together} senders at a time" if together > 1 and isinstance(case, Case) else ""
        many = f"{len(seeds)} trials" if isinstance(case, Move) else f"{measured[0]['seconds']:.0f} s, {len(seeds)} seeds"
        how = (
            f"{many.removesuffix('s') if len(seeds) == 1 else many}{at_once}, load {min(loads):.1f} to "
            f"{max(loads):.1f}, busy {min(busy):.0f} to {max(busy):.0f} %"
            f"{' (**disturbed**)' if max(busy) >= BUSY_PERCENT else ''}, {time.strftime('%Y-%m-%d %H:%M', time.gmtime(measured[-1]['time']))}"
        )
    cells = [cell(case, [result for result in results if result["peer"] == peer]) for peer in PEERS]
    if worse := behind(results, "ours", {"webrtcbin": "webrtcbin", "libwebrtc": "libwebrtc"}, TOLERANCES):
        cells[list(PEERS).index("ours")] += "; " + worse
    if worse := behind(results, "parent", {"ours": "Chromium"}, PARENT_TOLERANCES):
        cells[list(PEERS).index("parent")] += "; " + worse
    return "| " + " | ".join([case.name, case.title, case.goal, *cells, how]) + " |"


def lines(results: Sequence[dict[str, Any]]) -> list[str]:
    rows = []
    for case in [*CASES, *CROWDS, *MOVES]:
        if of_case := [result for result in results if result["case"] == case.name]:
            rows.append(row(case, of_case))
    return [*HEADER, *rows]


def write(path: Path, results: Sequence[dict[str, Any]]) -> None:
    """A row is of one run, as peers are compared within it. Rows that were not tried this time stay as they are."""
    before, rest = path.read_text().split(BEGIN, 1)
    old, after = rest.split(END, 1)
    known = {line.split("|")[1].strip(): line for line in old.splitlines() if line.startswith("| ")}
    known |= {line.split("|")[1].strip(): line for line in lines(results)[2:]}
    rows = [known[case.name] for case in [*CASES, *CROWDS, *MOVES] if case.name in known]
    path.write_text("\n".join([before + BEGIN, *HEADER, *rows, END]) + after)


def restored(result: dict[str, Any]) -> dict[str, Any]:
    """As network_bench.py had it before it was written down."""
    if "seen" not in result:
        return result
    seen = dict(result["seen"])
    seen["fall"] = Fall(**seen["fall"]) if seen["fall"] else None
    seen["series"] = [Second(**second) for second in seen["series"]]
    return result | {"seen": Seen(**seen)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", metavar="FILE", help="what `network_bench.py --json` wrote")
    parser.add_argument("--write", metavar="FILE", help="renew these rows of the table in this Markdown file")
    options = parser.parse_args()
    results = [restored(result) for file in options.results for result in json.loads(Path(file).read_text())]
    print("\n".join(lines(results)))
    if options.write:
        write(Path(options.write), results)


if __name__ == "__main__":
    main()
