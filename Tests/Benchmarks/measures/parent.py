"""What `bench.py` measures of the parent: our own viewer beside other viewers of the same child."""

from __future__ import annotations

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cores
from measures import vpx_alone
from cradle.figures import Figure, median
from measures.load import frames_so_far
from network.lossy_cable import LossyCable
from measures.base import Bench
from servers import MeasuredChild, Parent, Problem, watch
from cradle import processes

#: Each way.
LOSS_PERCENT = 5
ROUND_TRIP_MS = 20
#: What webrtcbin's jitter buffers wait when nobody says otherwise; with less than some round trips a retransmission
#: comes too late for them.
PATIENT_MS = 200
#: From the start of a viewer until it is in its stride.
SETTLE_SECONDS = 3


@dataclass
class Seen:
    """One run of a viewer, ours or another."""

    frames_per_second: float
    freezes: int
    longest_freeze_ms: float
    p50: float | None
    p95: float | None
    #: Share of the sound that was made up.
    concealed_percent: float | None
    packets_lost: int

    @classmethod
    def ours(cls, lines: list[dict[str, Any]]) -> "Seen":
        whole = lines[-1]
        latency = whole.get("latencyMs", {})
        # A second with several freezes counts as one long one.
        longest = max(after["freezeMs"] - before["freezeMs"] for before, after in zip([{"freezeMs": 0}] + lines, lines))
        return cls(
            whole["framesPerSecond"], whole["freezeCount"], round(longest, 1), latency.get("p50"), latency.get("p95"),
            whole.get("concealedPercent"), whole["packetsLost"],
        )  # fmt: skip

    @classmethod
    def gstreamer(cls, result: dict[str, Any]) -> "Seen":
        audio, latency = result["audio"], result["latencyMs"]
        # Its decoder does not say which it made up; this takes it that no copy in a next packet went unused.
        made_up, played = audio.get("missingWithoutCopy", 0), audio["packets"] + audio.get("missing", 0)
        concealed = made_up / played * 100 if played else None
        return cls(
            result["framesPerSecond"], result["freezeCount"], result["longestFreezeMs"], latency["p50"], latency["p95"],
            concealed, result["packetsLost"],
        )  # fmt: skip

    def __str__(self) -> str:
        concealed = "" if self.concealed_percent is None else f", {self.concealed_percent:.2f} % of the sound made up"
        return (
            f"p50 {self.p50} ms, p95 {self.p95} ms, {self.frames_per_second:.1f} frames/s, {self.freezes} freezes, "
            f"longest {self.longest_freeze_ms:.0f} ms{concealed}"
        )


def parent(bench: Bench) -> list[Figure]:
    with MeasuredChild(bench.child_program) as child:
        return _first_picture(bench, child) + _watching(bench, child)


# --- From the request to the first picture -------------------------------------------------------------------------


def _first_picture(bench: Bench, child: MeasuredChild) -> list[Figure]:
    times: dict[str, list[float]] = {"cradle-parent": [], "gstreamer": [], "aiortc": []}
    problems: dict[str, str] = {}

    def once(viewer: str) -> float:
        if viewer == "cradle-parent":
            with Parent(bench.parent_program, child, 0.5) as program:
                return float(program.figures()[-1]["timeToFirstFrameMs"])
        return float(watch(viewer, child, 0.3)["timeToFirstFrameMs"])

    for number in range(5 if bench.is_quick else 16):
        child.token = child.another_token(f"round {number}")  # one token may start a session each four seconds
        for viewer, found in times.items():
            try:
                time.sleep(0.3)
                milliseconds = once(viewer)
            except Problem as problem:
                problems[viewer] = str(problem)
                processes.log(f"  {problem}")
                continue
            if number > 0:  # the first one loads what is loaded on first use
                found.append(milliseconds)
                processes.log(f"  {viewer}: {milliseconds:.0f} ms to the first picture")
    ours = times["cradle-parent"]
    if not ours:
        raise Problem(problems.get("cradle-parent", "no run came to an end"))
    note = f"watching one child in turns, {len(ours)} runs each, after one that does not count; TLS included; slowest {max(ours):.0f} ms"
    note += "".join(f"; {who}: {why}" for who, why in problems.items())
    figures = [
        Figure(name, "ms", median(ours), median(theirs) if theirs else None, label, "ratio", runs=times)
        for name, theirs, label in (
            ("parent: request to first picture, median", times["gstreamer"], "webrtcbin"),
            ("  against aiortc as receiver", times["aiortc"], "aiortc"),
        )
    ]
    figures[0].note = note
    figures[0].judged("< 100 ms", lambda f: f.ours < 100)
    return figures


# --- Watching over loopback ----------------------------------------------------------------------------------------


@dataclass
class Cost:
    """Parent and vpxdec at the same time on one processor, and vpxdec in one go behind them. Times in ms of processor time
    a picture."""

    whole: float
    by_thread: dict[str, float]
    paced: float
    flat_out: float


@dataclass
class Weight:
    """What a minute of watching took in memory."""

    resident_mb: float
    anonymous_mb: float
    #: What the child sent; a busy machine, or its rate control, gives fewer than the camera.
    encoded_per_second: float


def _rate(before: tuple[float, int], after: tuple[float, int]) -> float:
    return (after[1] - before[1]) / (after[0] - before[0])


def _watching(bench: Bench, child: MeasuredChild) -> list[Figure]:
    seconds = 12 if bench.is_quick else 60
    ours: list[Seen] = []
    theirs: list[Seen] = []
    weights: list[Weight] = []
    note = f"{seconds} s each, test picture with timecode; webrtcbin watches the same child in turns, its jitter buffer at 20 ms"
    for _ in range(bench.rounds):
        seen, weight = _watch_and_weigh(bench, child, seconds)
        ours.append(seen)
        weights.append(weight)
        processes.log(f"  cradle-parent: {seen}")
        processes.log(
            f"  {weight.anonymous_mb:.1f} MB anonymous, {weight.resident_mb:.1f} MB resident; "
            f"the child encoded {weight.encoded_per_second:.1f} pictures/s"
        )
        try:
            theirs.append(Seen.gstreamer(watch("gstreamer", child, seconds)))
            processes.log(f"  webrtcbin: {theirs[-1]}")
        except Problem as problem:
            note += f"; webrtcbin: {problem}"
            processes.log(f"  {problem}")
    costs = _costs_in_turns(bench)
    bench.raw["parent"] = {"ours": list(map(asdict, ours)), "webrtcbin": list(map(asdict, theirs)), "costs": list(map(asdict, costs))}
    figures = []
    for which, most in (("p50", 35), ("p95", 60)):
        figure = _both(f"parent: glass to glass, {which}", "ms", which, ours, theirs, median)
        figures.append(figure.judged(f"< {most} ms", lambda f, most=most: f.ours < most))
    figures[0].note = note
    rate = _both("parent: frames a second, worst run", "", "frames_per_second", ours, theirs, min)
    freezes = _both(f"parent: freezes in {seconds} s, worst run", "", "freezes", ours, theirs, max)
    figures += [rate.judged("≥ 29.5", lambda f: f.ours >= 29.5), freezes.judged("0", lambda f: f.ours == 0)]
    rate.note = f"the child encoded {min(weight.encoded_per_second for weight in weights):.1f} pictures/s in the worst run"
    return figures + _costs(costs) + _memory(weights)


def _watch_and_weigh(bench: Bench, child: MeasuredChild, seconds: float) -> tuple[Seen, Weight]:
    with Parent(bench.parent_program, child, seconds) as program:
        time.sleep(SETTLE_SECONDS)
        encoded = frames_so_far(child)
        time.sleep(seconds - SETTLE_SECONDS - 2)
        encoded_rate = _rate(encoded, frames_so_far(child))
        resident, anonymous = program.resident_mb(), program.anonymous_mb()
        lines = program.figures()
    return Seen.ours(lines), Weight(resident, anonymous, encoded_rate)


def _costs_in_turns(bench: Bench) -> list[Cost]:
    """The machine's speed drifts from second to second, and who runs beside a child that encodes is slower than who has the
    machine alone: vpxdec decodes while the parent watches, at the pictures' rate, on the same processor. The child has
    the other one."""
    costs: list[Cost] = []
    with cores.watching():
        child = MeasuredChild(bench.child_program)
    with child, tempfile.TemporaryDirectory(prefix="cradle-bench-") as directory:
        file = Path(directory) / "recording.webm"
        # Shorter than what a recording waits before it asks for a key frame: the same frames as without one.
        recorded = 4.5 if bench.is_quick else 9.5
        with Parent(bench.parent_program, child, recorded, "--record", str(file)) as program:
            program.figures()
        for _ in range(3 * bench.rounds):
            with cores.measured():
                costs.append(_side_by_side(bench, child, file, recorded))
            cost = costs[-1]
            threads = ", ".join(f"{name} {spent:.2f}" for name, spent in sorted(cost.by_thread.items(), key=lambda item: -item[1])[:3])
            processes.log(f"  {cost.whole:.2f} ms a picture ({threads}), vpxdec {cost.paced:.2f} paced, {cost.flat_out:.2f} in one go")
    return costs


def _side_by_side(bench: Bench, child: MeasuredChild, file: Path, recorded: float) -> Cost:
    with Parent(bench.parent_program, child, 2 * SETTLE_SECONDS + recorded) as program, ThreadPoolExecutor(1) as pool:
        time.sleep(SETTLE_SECONDS)
        decoding = pool.submit(vpx_alone.decode, file, True)
        before = program.thread_seconds()
        share = program.cpu_share(recorded - 1)
        after = program.thread_seconds()
        paced = decoding.result()
        rate = Seen.ours(program.figures()).frames_per_second
    by_thread = {name: (spent - before.get(name, 0)) * 1000 / (recorded - 1) / rate for name, spent in after.items()}
    return Cost(share * 1000 / rate, by_thread, paced, vpx_alone.decode(file, False))


def _both(name: str, unit: str, attribute: str, ours: list[Seen], theirs: list[Seen], choose: Any) -> Figure:
    def of(runs: list[Seen]) -> float | None:
        values = [getattr(run, attribute) for run in runs]
        return float(choose(values)) if values and None not in values else None

    figure = Figure(name, unit, of(ours), of(theirs), "webrtcbin", "ratio" if unit == "ms" else "")
    figure.runs = [[getattr(run, attribute) for run in runs] for runs in (ours, theirs)]
    if figure.ours is None:
        figure.missing = "not in the parent's figures"
    return figure


def _costs(costs: list[Cost]) -> list[Figure]:
    last = costs[-1]
    threads = sorted(last.by_thread.items(), key=lambda item: -item[1])
    note = f"the middle of {len(costs)} turns, both at once on one processor; vpxdec --noblit with one thread on what the parent recorded; sound is decoded and metered, not played; by thread "
    note += ", ".join(f"{name} {spent:.2f}" for name, spent in threads[:6])

    def against(name: str, unit: str, reference: str, label: str, value: Any = lambda cost: cost.whole) -> Figure:
        ratios = sorted((value(cost) / getattr(cost, reference), value(cost), getattr(cost, reference)) for cost in costs)
        _, ours, theirs = ratios[len(ratios) // 2]
        return Figure(name, unit, ours, theirs, label, "ratio", runs=ratios)

    paced = against("parent: processor time a picture", "ms", "paced", "vpxdec, paced")
    paced.note = note
    return [
        paced.judged("≤ ×1.25", lambda f: f.comparison <= 1.25),
        against("  the same, vpxdec not paced", "ms", "flat_out", "vpxdec"),
        against("  its thread that decodes pictures", "ms", "paced", "vpxdec, paced", lambda cost: cost.by_thread.get("decode", 0)),
    ]


def _memory(weights: list[Weight]) -> list[Figure]:
    """As for the child: what the program made and keeps, and beside it the resident size with the shared files."""
    anonymous = [weight.anonymous_mb for weight in weights]
    resident = [weight.resident_mb for weight in weights]
    return [
        Figure("parent: anonymous memory", "MB", max(anonymous), runs=anonymous, note="largest of the runs"),
        Figure("parent: resident memory (RSS)", "MB", max(resident), runs=resident, note="largest of the runs"),
    ]


# --- Over a bad network --------------------------------------------------------------------------------------------


def parent_loss(bench: Bench) -> list[Figure]:
    if os.geteuid() != 0:
        raise Problem("two hosts in network namespaces need root")
    seconds = 15 if bench.is_quick else 60
    ours: list[Seen] = []
    theirs: list[Seen] = []
    carried: list[Any] = []
    encoded: list[float] = []
    for number in range(bench.rounds):
        # The same seed for both: each has the network to itself for a while.
        for is_ours in (True, False):
            with LossyCable(LOSS_PERCENT, ROUND_TRIP_MS / 2, seed=number + 1) as cable:
                with MeasuredChild(bench.child_program, cable) as child:
                    if is_ours:
                        with Parent(bench.parent_program, child, seconds, prefix=cable.prefix(1)) as program:
                            time.sleep(2 * SETTLE_SECONDS)
                            before = frames_so_far(child)
                            time.sleep(seconds - 2 * SETTLE_SECONDS - 1)
                            encoded.append(_rate(before, frames_so_far(child)))
                            lines = program.figures()
                        bench.raw.setdefault("parentLossLines", []).append(lines)
                        ours.append(Seen.ours(lines))
                        processes.log(f"  cradle-parent: {ours[-1]}")
                    else:
                        patient = ["--latency", str(PATIENT_MS), "--retransmit"]
                        result = watch("gstreamer", child, seconds, *patient, prefix=cable.prefix(1))
                        bench.raw.setdefault("webrtcbinLoss", []).append(result)
                        theirs.append(Seen.gstreamer(result))
                        processes.log(f"  webrtcbin: {theirs[-1]}")
            carried.append(cable.carried)
    runs = {"ours": list(map(asdict, ours)), "webrtcbin": list(map(asdict, theirs))}
    bench.raw["parentLoss"] = runs | {"carried": carried, "encodedPerSecond": encoded}
    shares = [way["lost"] / way["packets"] * 100 for ways in carried for way in ways if way["packets"]]
    rate = _both("parent, 5 % loss: frames a second, worst run", "", "frames_per_second", ours, theirs, min)
    rate.note = (
        f"{LOSS_PERCENT} % lost at random each way (seen: {min(shares):.1f} to {max(shares):.1f} %), {ROUND_TRIP_MS} ms round trip, "
        f"{seconds} s and {len(ours)} runs each; the child encoded {min(encoded):.1f} pictures/s at least; "
        f"webrtcbin with retransmission, its jitter buffer at {PATIENT_MS} ms as it comes"
    )
    freeze = _both("  longest freeze of all runs", "ms", "longest_freeze_ms", ours, theirs, max)
    freeze.compare = ""
    concealed = _both("  sound made up, worst run", "%", "concealed_percent", ours, theirs, max)
    concealed.note = "webrtcbin's at least: lost packets of sound that no copy in the next packet could stand in for"
    delay = _both("  glass to glass, p50", "ms", "p50", ours, theirs, median)
    tail = _both("  glass to glass, p95", "ms", "p95", ours, theirs, median)
    return [
        rate.judged("≥ 29", lambda f: f.ours >= 29),
        freeze.judged("≤ 300 ms", lambda f: f.ours <= 300),
        concealed.judged("< 1 %", lambda f: f.ours < 1),
        delay,
        tail,
    ]
