"""What a viewer sees of the child: how soon, how late and how well. Each function gives lines of the table; ours and the comparison take turns in one run."""

from __future__ import annotations

import json
import math
import subprocess
import time
from dataclasses import dataclass, field
from typing import Any, Callable

from measures import vpx_alone
from cradle.figures import Figure, median
from servers import KBPS, AiortcSender, MeasuredChild, Problem, Server, Webrtcbin, watch
from cradle import processes

FRAME_RATE = 30


@dataclass
class Bench:
    """What all measurements share."""

    child_program: str
    parent_program: str
    benchmarks: str
    recording: vpx_alone.Recording
    is_quick: bool
    #: libvpx's cpu-used at which the child has settled, once known.
    speed: int = -8
    raw: dict[str, Any] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        return 1 if self.is_quick else 3

    @property
    def window(self) -> float:
        return 8 if self.is_quick else 20

    def run_benchmark(self, *arguments: str) -> dict[str, Any]:
        done = subprocess.run([self.benchmarks, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise Problem(f"cradle-benchmarks {arguments[0]}: {done.stderr.strip()}")
        return dict(json.loads(done.stdout))

    def encode_alone(self, *arguments: str) -> dict[str, Any]:
        """The child's encoder by itself on the recording's pictures."""
        frames = str(self.recording.frames)
        common_arguments = ["--layers", "2", "--bitrate", str(KBPS), "--frames", frames, f"--speed={self.speed}"]
        return self.run_benchmark("encode", *common_arguments, *arguments)

    def draw_ms(self) -> float:
        """What drawing one picture costs."""
        return float(self.run_benchmark("draw", "--seconds", "5" if self.is_quick else "10")["cpuMillisecondsPerFrame"])


# --- From the request to the first picture -------------------------------------------------------------------------


def first_picture(bench: Bench) -> list[Figure]:
    each = 2 if bench.is_quick else 5
    times: dict[str, list[float]] = {"cradle-child": [], "webrtcbin": [], "aiortc": []}
    ours = times["cradle-child"]
    problems: dict[str, str] = {}
    with MeasuredChild(bench.child_program) as child:
        for _ in range(3):
            for make in (lambda: child, lambda: Webrtcbin(bench.benchmarks, bench.speed), lambda: AiortcSender(bench.recording.path)):
                server = make()
                try:
                    if server is not child:
                        time.sleep(1)  # its encoder has begun
                    if server is not child or not ours:
                        watch("aiortc", server, 0.3)  # loads what is loaded on first use
                    for _ in range(each):
                        times[server.name].append(float(watch("aiortc", server, 0.3)["timeToFirstFrameMs"]))
                        processes.log(f"  {server.name}: {times[server.name][-1]:.0f} ms to the first picture")
                except Problem as problem:
                    problems[server.name] = str(problem)
                    processes.log(f"  {problem}")
                finally:
                    if server is not child:
                        server.close()
    if not ours:
        raise Problem(problems.get("cradle-child", "no run came to an end"))
    note = "; ".join([f"aiortc as receiver, {len(ours)} runs each, after one that does not count"] + [f"{who}: {why}" for who, why in problems.items()])
    figures = [
        Figure("request to first picture, median", "ms", median(ours), _median(times["webrtcbin"]), "webrtcbin", "ratio", note=note, runs=times).judged(
            "< 150 ms", lambda f: f.ours < 150
        ),
        Figure("  against aiortc's own sender", "ms", median(ours), _median(times["aiortc"]), "aiortc", "ratio"),
        Figure("  worst run", "ms", max(ours), max(times["webrtcbin"], default=None), "webrtcbin", "ratio"),
    ]
    return figures


def _median(values: list[float]) -> float | None:
    return median(values) if values else None


# --- Glass to glass ------------------------------------------------------------------------------------------------


def glass_to_glass(bench: Bench) -> list[Figure]:
    seconds = 15 if bench.is_quick else 60
    ours: list[dict[str, Any]] = []
    theirs: list[dict[str, Any]] = []
    note = f"Chromium as receiver, {seconds} s, timecode TC32"
    with MeasuredChild(bench.child_program) as child:
        for _ in range(1 if bench.is_quick else 2):
            ours.append(watch("chromium", child, seconds))
            processes.log(_seen(child, ours[-1]))
            try:
                with Webrtcbin(bench.benchmarks, bench.speed) as server:
                    time.sleep(1)
                    theirs.append(watch("chromium", server, seconds))
                    processes.log(_seen(server, theirs[-1]))
            except Problem as problem:
                note += f"; webrtcbin: {problem}"
    bench.raw["glassToGlass"] = {"ours": ours, "webrtcbin": theirs}
    buffers = [result.get("browser", {}).get("jitterBufferMs") for result in (ours[-1], *theirs[-1:])]
    note += f"; in the browser's jitter buffer {' and '.join(map(str, buffers))} ms of it"
    figures = []
    for which in ("p50", "p95"):
        figure = Figure(f"glass to glass, {which}", "ms", against="webrtcbin", compare="ratio", target="≤ webrtcbin")
        figure.runs = [[result["latencyMs"][which] for result in results] for results in (ours, theirs)]
        if None in figure.runs[0]:
            figure.missing = "Chromium read no timecode"
        else:
            figure.ours = median(figure.runs[0])
            figure.reference = _median([value for value in figure.runs[1] if value is not None])
            figure.met = figure.ours <= figure.reference if figure.reference is not None else None
            if figure.reference is None:
                figure.against = "webrtcbin not measured"
        figures.append(figure)
    figures[0].note = note
    freezes = Figure("freezes, worst run", f"in {seconds} s", _worst(max, ours, "freezeCount"), _worst(max, theirs, "freezeCount"))
    rate = Figure("frames a second, worst run", "", _worst(min, ours, "framesPerSecond"), _worst(min, theirs, "framesPerSecond"))
    freezes.against = rate.against = "webrtcbin"
    return figures + [freezes.judged("0", lambda f: f.ours == 0), rate.judged("≥ 29.5", lambda f: f.ours >= 29.5)]


def _seen(server: Server, result: dict[str, Any]) -> str:
    latency = result["latencyMs"]
    return (
        f"  {server.name}: p50 {latency['p50']} ms, p95 {latency['p95']} ms, {result['framesPerSecond']} frames/s, "
        f"{result['freezeCount']} freezes"
    )


def _worst(choose: Callable[..., Any], results: list[dict[str, Any]], key: str) -> float | None:
    return float(choose(result[key] for result in results)) if results else None


# --- Quality -------------------------------------------------------------------------------------------------------


def quality(bench: Bench) -> list[Figure]:
    ours = bench.encode_alone()
    # Both aim at the same rate and neither hits it exactly: libvpx's quality is read off at the rate that ours had.
    points = sorted(
        (math.log(point["kbps"]), point["lumaPSNR"])
        for point in (vpx_alone.luma_psnr(bench.recording, bench.speed, KBPS * share // 100) for share in (90, 100, 110))
    )
    reference = interpolate(points, math.log(ours["kbps"]))
    figure = Figure(
        "luma PSNR at the same rate", "dB", ours["lumaPSNR"], reference, "vpxenc", "difference",
        note=f"{ours['kbps']:.0f} kbit/s, cpu-used {bench.speed}, two layers against one, {ours['frames']} pictures",
        runs={"ours": ours, "libvpx": points},
    )  # fmt: skip
    return [figure.judged("≥ -0.20 dB", lambda f: f.comparison >= -0.20)]


def interpolate(points: list[tuple[float, float]], x: float) -> float:
    """Linear between the two nearest points, and beyond the ends along the last piece."""
    index = next((i for i in range(1, len(points) - 1) if x <= points[i][0]), len(points) - 1)
    (x1, y1), (x2, y2) = points[index - 1], points[index]
    return y1 if x2 == x1 else y1 + (y2 - y1) * (x - x1) / (x2 - x1)
