"""What `bench.py` measures. Each function gives lines of the table; ours and the comparison take turns in one run."""

from __future__ import annotations

import json
import math
import subprocess
import time
from dataclasses import dataclass, field
from typing import Any, Callable

import cores
import vpx_alone
from figures import Figure, median
from servers import KBPS, AiortcSender, Child, Problem, Server, Watchers, Webrtcbin, common, watch

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
    with Child(bench.child_program) as child:
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
                        common.log(f"  {server.name}: {times[server.name][-1]:.0f} ms to the first picture")
                except Problem as problem:
                    problems[server.name] = str(problem)
                    common.log(f"  {problem}")
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
    with Child(bench.child_program) as child:
        for _ in range(1 if bench.is_quick else 2):
            ours.append(watch("chromium", child, seconds))
            common.log(_seen(child, ours[-1]))
            try:
                with Webrtcbin(bench.benchmarks, bench.speed) as server:
                    time.sleep(1)
                    theirs.append(watch("chromium", server, seconds))
                    common.log(_seen(server, theirs[-1]))
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


# --- Processor time and memory -------------------------------------------------------------------------------------


@dataclass
class Window:
    """Some seconds of a server's life."""

    cpu_share: float
    frames_per_second: float
    resident_mb: float
    #: The part of it that is not backed by files such as the program itself.
    anonymous_mb: float
    #: Processor time in ms a picture, by the threads' names.
    threads: dict[str, float] = field(default_factory=dict)

    @property
    def ms_per_frame(self) -> float:
        return self.cpu_share * 1000 / self.frames_per_second


def frames_so_far(server: Server) -> tuple[float, int]:
    frames = server.camera()["encoded"] if isinstance(server, Child) else server.stats()["pictures"]
    return time.monotonic(), int(frames)


def observe(server: Server, seconds: float) -> Window:
    began, before = frames_so_far(server)
    threads = server.thread_seconds()
    share = server.cpu_share(seconds)
    threads = {name: spent - threads.get(name, 0) for name, spent in server.thread_seconds().items()}
    ended, after = frames_so_far(server)
    if after <= before:
        raise Problem(f"{server.name} encoded nothing in {seconds:.0f} s")
    rate = (after - before) / (ended - began)
    by_name = {name: spent * 1000 / seconds / rate for name, spent in threads.items()}
    return Window(share, rate, server.resident_mb(), server.anonymous_mb(), by_name)


def settle(child: Child, seconds: float) -> int:
    """Waits until the encoder's speed has stayed the same for ten seconds and more; that speed."""
    deadline = time.monotonic() + seconds
    speed, since = child.encoder_speed(), time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - since < 13:
        time.sleep(1)
        if child.encoder_speed() != speed:
            speed, since = child.encoder_speed(), time.monotonic()
    return speed


@dataclass
class Load:
    """What the rounds of `load` gathered; times in ms of processor time a picture."""

    ours: list[float] = field(default_factory=list)
    ours_drawing: list[float] = field(default_factory=list)
    paced: list[float] = field(default_factory=list)
    flat_out: list[float] = field(default_factory=list)
    encoder: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    theirs_drawing: list[float] = field(default_factory=list)
    #: With our encoder's threshold for blocks that stay as they are; otherwise it is left as GStreamer has it.
    theirs_alike: list[float] = field(default_factory=list)
    #: By number of viewers: processor time as a share of a core, and resident memory.
    ours_share: dict[int, list[float]] = field(default_factory=dict)
    theirs_share: dict[int, list[float]] = field(default_factory=dict)
    #: The same as `ours_share` without the threads whose work does not depend on the viewers.
    ours_sending: dict[int, list[float]] = field(default_factory=dict)
    ours_mb: dict[int, list[float]] = field(default_factory=dict)
    ours_anonymous_mb: dict[int, list[float]] = field(default_factory=dict)
    theirs_mb: dict[int, list[float]] = field(default_factory=dict)
    rates: list[float] = field(default_factory=list)
    threads: list[dict[str, float]] = field(default_factory=list)
    speeds: list[int] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)
    theirs_idle: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


VIEWERS = (1, 2, 4)
#: The child's threads that draw and encode once for everybody; their noise is larger than what a viewer adds.
ENCODING_THREADS = ("encode", "picture", "sound")


def load(bench: Bench) -> list[Figure]:
    gathered = Load()
    with cores.measured(), Child(bench.child_program) as child, Watchers(child) as watchers:
        gathered.idle.append(child.cpu_share(bench.window))
        common.log(f"  idle before any viewer: {gathered.idle[0] * 100:.2f} % of a core")
        watchers.grow_to(1)
        bench.speed = settle(child, 20 if bench.is_quick else 75)
        common.log(f"  the child's encoder runs at cpu-used {bench.speed}")
        # The machine's speed drifts. Every second round has one viewer alone, so that what is compared is close in time.
        for number in range(2 * bench.rounds):
            _child_round(bench, child, watchers, gathered, VIEWERS if number % 2 == 0 else VIEWERS[:1])
            _libvpx_round(bench, gathered)
            # The child sleeps meanwhile.
            watchers.leave()
            # Further viewers of the comparison are counted once; nothing is asked of them.
            _webrtcbin_round(bench, gathered, VIEWERS if number == 0 else VIEWERS[:1])
            if number + 1 < 2 * bench.rounds:
                watchers.grow_to(1)
                time.sleep(3)
        gathered.idle.append(child.cpu_share(bench.window))
        common.log(f"  idle after the viewers left: {gathered.idle[1] * 100:.2f} % of a core")
    bench.raw["load"] = gathered.__dict__
    return _processor(bench, gathered) + _memory(gathered) + _idle(gathered)


def _child_round(bench: Bench, child: Child, watchers: Watchers, gathered: Load, counts: tuple[int, ...]) -> None:
    """One window for each number of viewers, all at one speed of the encoder if the machine allows it."""
    tries = 3
    for attempt in range(tries):
        windows: dict[int, Window] = {}
        speed = child.encoder_speed()
        for count in counts:
            watchers.grow_to(count)
            time.sleep(2)
            before = watchers.packets()
            windows[count] = observe(child, bench.window)
            if any(after <= earlier for earlier, after in zip(before, watchers.packets())):
                raise Problem("a viewer of the child received nothing")
            common.log(_line("cradle-child", count, windows[count]))
            if child.encoder_speed() != speed and attempt + 1 < tries:
                break
        else:
            break
        common.log(f"  the encoder changed its speed from {speed} to {child.encoder_speed()}: once more")
        watchers.leave()
        watchers.grow_to(1)
        settle(child, 30)
    if child.encoder_speed() != speed:
        gathered.problems.append(f"the encoder's speed went from {speed} to {child.encoder_speed()} meanwhile")
    for count, window in windows.items():
        if counts == VIEWERS:
            gathered.ours_share.setdefault(count, []).append(window.cpu_share)
            sending = sum(spent for name, spent in window.threads.items() if name not in ENCODING_THREADS)
            gathered.ours_sending.setdefault(count, []).append(sending * window.frames_per_second / 1000)
        gathered.ours_mb.setdefault(count, []).append(window.resident_mb)
        gathered.ours_anonymous_mb.setdefault(count, []).append(window.anonymous_mb)
    gathered.ours.append(windows[1].ms_per_frame)
    gathered.threads.append(windows[1].threads)
    gathered.rates.append(min(window.frames_per_second for window in windows.values()))
    gathered.speeds.append(speed)
    bench.speed = speed
    gathered.ours_drawing.append(bench.draw_ms())


def _libvpx_round(bench: Bench, gathered: Load) -> None:
    speed, recording = gathered.speeds[-1], bench.recording
    gathered.paced.append(vpx_alone.encode(recording, speed, KBPS, paced=True)["cpuMsPerFrame"])
    gathered.flat_out.append(vpx_alone.encode(recording, speed, KBPS)["cpuMsPerFrame"])
    alone = bench.encode_alone("--no-quality")
    gathered.encoder.append(float(alone["cpuMillisecondsPerFrame"]))
    common.log(f"  libvpx alone: {gathered.paced[-1]:.2f} ms a picture at their rate, {gathered.flat_out[-1]:.2f} in one go")


def _webrtcbin_round(bench: Bench, gathered: Load, counts: tuple[int, ...]) -> None:
    try:
        with Webrtcbin(bench.benchmarks, gathered.speeds[-1]) as server, Watchers(server) as watchers:
            time.sleep(1)
            gathered.theirs_idle.append(server.cpu_share(bench.window / 2))
            for count in counts:
                watchers.grow_to(count)
                time.sleep(2)
                window = observe(server, bench.window)
                gathered.theirs_share.setdefault(count, []).append(window.cpu_share)
                gathered.theirs_mb.setdefault(count, []).append(window.resident_mb)
                if count == 1:
                    gathered.theirs.append(window.ms_per_frame)
                common.log(_line("webrtcbin", count, window))
        alike = Webrtcbin(bench.benchmarks, gathered.speeds[-1], options=("--static-threshold", "200"))
        with alike as server, Watchers(server) as watchers:
            watchers.grow_to(1)
            time.sleep(2)
            gathered.theirs_alike.append(observe(server, bench.window).ms_per_frame)
        with Webrtcbin(bench.benchmarks, gathered.speeds[-1], draw_only=True) as server:
            time.sleep(1)
            gathered.theirs_drawing.append(observe(server, bench.window).ms_per_frame)
    except Problem as problem:
        gathered.problems.append(str(problem))
        common.log(f"  {problem}")


def _line(name: str, count: int, window: Window) -> str:
    return (
        f"  {name}, {count} viewer(s): {window.cpu_share * 100:.1f} % of a core, {window.ms_per_frame:.2f} ms a picture, "
        f"{window.frames_per_second:.1f} pictures/s, {window.resident_mb:.1f} MB"
    )


def _processor(bench: Bench, load: Load) -> list[Figure]:
    ours = [whole - drawing for whole, drawing in zip(load.ours, load.ours_drawing)]
    theirs = [whole - drawing for whole, drawing in zip(load.theirs, load.theirs_drawing)]
    speeds = "/".join(map(str, sorted(set(load.speeds))))
    note = (
        f"one viewer; drawing taken off ({median(load.ours_drawing):.2f} ms), sound and network included; cpu-used {speeds}; "
        f"{min(load.rates):.1f} pictures/s encoded at least"
    )
    busiest = sorted(load.threads[-1].items(), key=lambda item: -item[1])[:5]
    note += "".join(f"; {problem}" for problem in load.problems)
    note += "; by thread " + ", ".join(f"{name} {spent:.2f}" for name, spent in busiest)
    name = "processor time a picture"
    figures = [
        _by_rounds(Figure(f"{name}: vs libvpx", "ms", against="vpxenc, paced", note=note), ours, load.paced).judged(
            "≤ ×1.10", lambda f: f.comparison <= 1.10
        ),
        _by_rounds(Figure("  the same, vpxenc not paced", "ms", against="vpxenc"), ours, load.flat_out).judged(
            "≤ ×1.10", lambda f: f.comparison <= 1.10
        ),
        _by_rounds(Figure("  the encoder alone, two layers", "ms", against="vpxenc"), load.encoder, load.flat_out),
    ]
    against = Figure(f"{name}: vs webrtcbin", "ms", against="webrtcbin")
    if theirs:
        against.note = f"what taking in the pictures costs it is off ({median(load.theirs_drawing):.2f} ms)"
        figures.append(_by_rounds(against, ours, theirs).judged("≤ ×0.90", lambda f: f.comparison <= 0.90))
        alike = [whole - drawing for whole, drawing in zip(load.theirs_alike, load.theirs_drawing)]
        figures.append(
            _by_rounds(Figure("  the same, its encoder with our threshold for still blocks", "ms", against="webrtcbin"), ours, alike)
        )
    else:
        against.missing, against.target = "; ".join(load.problems) or "no run", "≤ ×0.90"
        figures.append(against)
    encode = median(load.paced) * FRAME_RATE / 1000
    sending = _each_further(load.ours_sending) / encode * 100
    figures.append(
        Figure(
            "each further viewer",
            "% of the encode",
            _each_further(load.ours_share) / encode * 100,
            _each_further(load.theirs_share) / encode * 100 if len(load.theirs_share) == len(VIEWERS) else None,
            "webrtcbin",
            "ratio",
            note="from 1 to 4 viewers, a third of the difference; the encode is libvpx's, paced; "
            f"without the threads that serve all viewers at once {sending:.2f} %",
            runs=load.ours_share,
        ).judged("≤ 3 %", lambda f: f.ours <= 3)
    )
    return figures


def _by_rounds(figure: Figure, ours: list[float], theirs: list[float]) -> Figure:
    """The median of both; each round's two were measured next to each other, so the ratio is that of the middle round."""
    pairs = sorted(zip(ours, theirs), key=lambda pair: pair[0] / pair[1])
    figure.ours, figure.reference = pairs[len(pairs) // 2]
    figure.compare = "ratio"
    figure.runs = pairs
    return figure


def _each_further(by_count: dict[int, list[float]]) -> float:
    least, most = min(by_count), max(by_count)
    return median([(many - one) / (most - least) for one, many in zip(by_count[least], by_count[most])])


def _memory(load: Load) -> list[Figure]:
    def theirs(value: Any) -> float | None:
        return value() if all(load.theirs_mb.get(count) for count in VIEWERS) else None

    # Later rounds reuse what the first one left, so the first says what viewers need.
    def growth(by_count: dict[int, list[float]]) -> float:
        return (by_count[4][0] - by_count[1][0]) / 3

    return [
        Figure(
            "resident memory, one viewer", "MB", max(load.ours_mb[1]), theirs(lambda: max(load.theirs_mb[1])), "webrtcbin",
            "ratio", note=f"largest of the rounds; {max(load.ours_anonymous_mb[1]):.1f} MB of it is not the program's files; webrtcbin's with the Python that holds it, its pictures drawn outside it",
            runs=load.ours_mb,
        ).judged("< 50 MB", lambda f: f.ours < 50),
        Figure(
            "each further viewer, memory", "MB", growth(load.ours_mb), theirs(lambda: growth(load.theirs_mb)), "webrtcbin",
            "ratio", note="from 1 to 4 viewers, a third of the difference, first round", runs=load.theirs_mb,
        ).judged("< 2 MB", lambda f: f.ours < 2),
    ]  # fmt: skip


def _idle(load: Load) -> list[Figure]:
    theirs = median(load.theirs_idle) * 100 if load.theirs_idle else None
    note = f"before any viewer {load.idle[0] * 100:.2f} %, after the last left {load.idle[-1] * 100:.2f} %"
    figure = Figure("idle, no viewer", "% of a core", max(load.idle) * 100, theirs, "webrtcbin", "ratio", note=note)
    return [figure.judged("< 2 %", lambda f: f.ours < 2)]


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
