"""What a viewer costs: processor time and memory of the child, against libvpx alone and GStreamer's webrtcbin."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any

import cores
from measures import vpx_alone
from cradle.figures import Figure, median
from measures.base import FRAME_RATE, Bench
from servers import KBPS, MeasuredChild, Problem, Server, Watchers, Webrtcbin
from cradle import processes


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
    frames = server.camera()["encoded"] if isinstance(server, MeasuredChild) else server.stats()["pictures"]
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


def settle(child: MeasuredChild, seconds: float) -> int:
    """Waits until the encoder's speed has stayed the same for ten seconds and more; that speed."""
    deadline = time.monotonic() + seconds
    speed, since = child.encoder_speed(), time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - since < 13:
        time.sleep(1)
        if child.encoder_speed() != speed:
            speed, since = child.encoder_speed(), time.monotonic()
    return speed


@dataclass
class Turn:
    """The child with one viewer and what it is compared with, measured right after one another; ms of processor time a picture."""

    ours: Window
    speed: int
    paced: float
    flat_out: float
    encoder: float
    #: The child and webrtcbin at the same time.
    beside: tuple[float, float] | None = None
    #: The same with our encoder's threshold for blocks that stay as they are; otherwise it is left as GStreamer has it.
    beside_alike: tuple[float, float] | None = None


@dataclass
class Load:
    """What `load` gathered."""

    turns: list[Turn] = field(default_factory=list)
    #: What drawing or taking in a picture costs, ms of processor time.
    ours_drawing: list[float] = field(default_factory=list)
    theirs_drawing: list[float] = field(default_factory=list)
    #: By number of viewers: processor time as a share of a core, and resident memory.
    ours_share: dict[int, list[float]] = field(default_factory=dict)
    theirs_share: dict[int, list[float]] = field(default_factory=dict)
    #: The same as `ours_share` without the threads whose work does not depend on the viewers.
    ours_sending: dict[int, list[float]] = field(default_factory=dict)
    ours_mb: dict[int, list[float]] = field(default_factory=dict)
    ours_anonymous_mb: dict[int, list[float]] = field(default_factory=dict)
    theirs_mb: dict[int, list[float]] = field(default_factory=dict)
    theirs_anonymous_mb: dict[int, list[float]] = field(default_factory=dict)
    rates: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)
    theirs_idle: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


VIEWERS = (1, 2, 4)
#: The child's threads that draw and encode once for everybody; their noise is larger than what a viewer adds.
ENCODING_THREADS = ("encode", "picture", "sound")


def load(bench: Bench) -> list[Figure]:
    gathered = Load()
    with cores.measured(), MeasuredChild(bench.child_program) as child, Watchers(child) as watchers:
        gathered.idle.append(child.cpu_share(bench.window))
        processes.log(f"  idle before any viewer: {gathered.idle[0] * 100:.2f} % of a core")
        watchers.grow_to(1)
        bench.speed = settle(child, 20 if bench.is_quick else 75)
        processes.log(f"  the child's encoder runs at cpu-used {bench.speed}")
        for number in range(bench.rounds):
            _child_round(bench, child, watchers, gathered)
            # The child sleeps meanwhile.
            watchers.leave()
            # Further viewers of the comparison are counted once; nothing is asked of them.
            _webrtcbin_round(bench, gathered, VIEWERS if number == 0 else VIEWERS[:1])
            watchers.grow_to(1)
        for _ in range(2 * bench.rounds):
            gathered.turns.append(_turn(bench, child, watchers, gathered))
        watchers.leave()
        gathered.idle.append(child.cpu_share(bench.window))
        processes.log(f"  idle after the viewers left: {gathered.idle[1] * 100:.2f} % of a core")
    bench.raw["load"] = asdict(gathered)
    return _processor(bench, gathered) + _memory(gathered) + _idle(gathered)


def _child_round(bench: Bench, child: MeasuredChild, watchers: Watchers, gathered: Load) -> None:
    """One window for each number of viewers, all at one speed of the encoder if the machine allows it."""
    windows = _at_one_speed(bench, child, watchers, gathered, VIEWERS, bench.window)[0]
    for count, window in windows.items():
        gathered.ours_share.setdefault(count, []).append(window.cpu_share)
        sending = sum(spent for name, spent in window.threads.items() if name not in ENCODING_THREADS)
        gathered.ours_sending.setdefault(count, []).append(sending * window.frames_per_second / 1000)
        gathered.ours_mb.setdefault(count, []).append(window.resident_mb)
        gathered.ours_anonymous_mb.setdefault(count, []).append(window.anonymous_mb)
    gathered.ours_drawing.append(bench.draw_ms())


def _at_one_speed(
    bench: Bench, child: MeasuredChild, watchers: Watchers, gathered: Load, counts: tuple[int, ...], seconds: float
) -> tuple[dict[int, Window], int]:
    """A window for each number of viewers, and the encoder's cpu-used that they have in common."""
    tries = 3
    for attempt in range(tries):
        windows: dict[int, Window] = {}
        speed = child.encoder_speed()
        for count in counts:
            watchers.grow_to(count)
            time.sleep(2)
            before = watchers.packets()
            windows[count] = observe(child, seconds)
            if any(after <= earlier for earlier, after in zip(before, watchers.packets())):
                raise Problem("a viewer of the child received nothing")
            processes.log(_line("cradle-child", count, windows[count]))
            if child.encoder_speed() != speed and attempt + 1 < tries:
                break
        else:
            break
        processes.log(f"  the encoder changed its speed from {speed} to {child.encoder_speed()}: once more")
        watchers.leave()
        watchers.grow_to(1)
        settle(child, 30)
    if child.encoder_speed() != speed:
        gathered.problems.append(f"the encoder's speed went from {speed} to {child.encoder_speed()} meanwhile")
    gathered.rates.append(min(window.frames_per_second for window in windows.values()))
    bench.speed = speed
    return windows, speed


def _turn(bench: Bench, child: MeasuredChild, watchers: Watchers, gathered: Load) -> Turn:
    """The machine's speed drifts from second to second. So libvpx runs right after the child, and webrtcbin beside it."""
    seconds = bench.window / 2
    watchers.grow_to(1)
    windows, speed = _at_one_speed(bench, child, watchers, gathered, VIEWERS[:1], seconds)
    watchers.leave()
    turn = Turn(
        windows[1], speed,
        paced=vpx_alone.encode(bench.recording, speed, KBPS, paced=True)["cpuMsPerFrame"],
        flat_out=vpx_alone.encode(bench.recording, speed, KBPS)["cpuMsPerFrame"],
        encoder=float(bench.encode_alone("--no-quality")["cpuMillisecondsPerFrame"]),
    )  # fmt: skip
    processes.log(f"  libvpx alone: {turn.paced:.2f} ms a picture at their rate, {turn.flat_out:.2f} in one go")
    watchers.grow_to(1)
    try:
        turn.beside = _side_by_side(bench, child, seconds)
        turn.beside_alike = _side_by_side(bench, child, seconds, "--static-threshold", "200")
    except Problem as problem:
        gathered.problems.append(str(problem))
        processes.log(f"  {problem}")
    return turn


def _side_by_side(bench: Bench, child: MeasuredChild, seconds: float, *options: str) -> tuple[float, float]:
    """Child and webrtcbin at the same time on one processor, one viewer and one encoder speed each; ms a picture."""
    for _ in range(3):
        speed = settle(child, 30)
        with Webrtcbin(bench.benchmarks, speed, options=options) as server, Watchers(server) as watchers:
            watchers.grow_to(1)
            time.sleep(2)
            with ThreadPoolExecutor(2) as pool:
                windows = list(pool.map(lambda one: observe(one, seconds), (child, server)))
        if child.encoder_speed() == speed:
            ours, theirs = (window.ms_per_frame for window in windows)
            processes.log(f"  side by side: {ours:.2f} ms a picture, {' '.join(['webrtcbin', *options])} {theirs:.2f}")
            return ours, theirs
        processes.log(f"  the encoder changed its speed from {speed} to {child.encoder_speed()}: once more")
    raise Problem("the encoder's speed did not stay the same beside webrtcbin")


def _webrtcbin_round(bench: Bench, gathered: Load, counts: tuple[int, ...]) -> None:
    try:
        with Webrtcbin(bench.benchmarks, bench.speed) as server, Watchers(server) as watchers:
            time.sleep(1)
            gathered.theirs_idle.append(server.cpu_share(bench.window / 2))
            for count in counts:
                watchers.grow_to(count)
                time.sleep(2)
                window = observe(server, bench.window)
                gathered.theirs_share.setdefault(count, []).append(window.cpu_share)
                gathered.theirs_mb.setdefault(count, []).append(window.resident_mb)
                gathered.theirs_anonymous_mb.setdefault(count, []).append(window.anonymous_mb)
                processes.log(_line("webrtcbin", count, window))
        with Webrtcbin(bench.benchmarks, bench.speed, draw_only=True) as server:
            time.sleep(1)
            gathered.theirs_drawing.append(observe(server, bench.window).ms_per_frame)
    except Problem as problem:
        gathered.problems.append(str(problem))
        processes.log(f"  {problem}")


def _line(name: str, count: int, window: Window) -> str:
    return (
        f"  {name}, {count} viewer(s): {window.cpu_share * 100:.1f} % of a core, {window.ms_per_frame:.2f} ms a picture, "
        f"{window.frames_per_second:.1f} pictures/s, {window.anonymous_mb:.1f} MB anonymous, {window.resident_mb:.1f} MB resident"
    )


def _processor(bench: Bench, load: Load) -> list[Figure]:
    turns, drawing = load.turns, median(load.ours_drawing)
    ours = [turn.ours.ms_per_frame - drawing for turn in turns]
    speeds = "/".join(str(speed) for speed in sorted({turn.speed for turn in turns}))
    note = (
        f"one viewer, the middle of {len(turns)} turns; drawing taken off ({drawing:.2f} ms), sound and network included; "
        f"cpu-used {speeds}; {min(load.rates):.1f} pictures/s encoded at least"
    )
    busiest = sorted(turns[-1].ours.threads.items(), key=lambda item: -item[1])[:5]
    note += "".join(f"; {problem}" for problem in load.problems)
    note += "; by thread " + ", ".join(f"{name} {spent:.2f}" for name, spent in busiest)
    name = "processor time a picture"
    paced, flat_out = [turn.paced for turn in turns], [turn.flat_out for turn in turns]
    figures = [
        _by_turns(Figure(f"{name}: vs libvpx", "ms", against="vpxenc, paced", note=note), ours, paced).judged(
            "≤ ×1.10", lambda f: f.comparison <= 1.10
        ),
        _by_turns(Figure("  the same, vpxenc not paced", "ms", against="vpxenc"), ours, flat_out).judged(
            "≤ ×1.10", lambda f: f.comparison <= 1.10
        ),
        _by_turns(Figure("  the encoder alone, two layers", "ms", against="vpxenc"), [turn.encoder for turn in turns], flat_out),
    ]
    against = Figure(f"{name}: vs webrtcbin", "ms", against="webrtcbin")
    beside = [turn.beside for turn in turns if turn.beside]
    alike = [turn.beside_alike for turn in turns if turn.beside_alike]
    if beside and alike and load.theirs_drawing:
        taking_in = median(load.theirs_drawing)
        against.note = f"both at once on one processor; what taking in the pictures costs it is off ({taking_in:.2f} ms)"

        def by_turns(figure: Figure, pairs: list[tuple[float, float]]) -> Figure:
            return _by_turns(figure, [ours - drawing for ours, _ in pairs], [theirs - taking_in for _, theirs in pairs])

        figures.append(by_turns(against, beside).judged("≤ ×0.90", lambda f: f.comparison <= 0.90))
        same = Figure("  the same, its encoder with our threshold for still blocks", "ms", against="webrtcbin")
        figures.append(by_turns(same, alike))
    else:
        against.missing, against.target = "; ".join(load.problems) or "no run", "≤ ×0.90"
        figures.append(against)
    encode = median(paced) * FRAME_RATE / 1000
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


def _by_turns(figure: Figure, ours: list[float], theirs: list[float]) -> Figure:
    """Each turn's two were measured next to each other: the turn whose ratio is in the middle counts."""
    pairs = sorted(zip(ours, theirs), key=lambda pair: pair[0] / pair[1])
    figure.ours, figure.reference = pairs[len(pairs) // 2]
    figure.compare = "ratio"
    figure.runs = pairs
    return figure


def _each_further(by_count: dict[int, list[float]]) -> float:
    least, most = min(by_count), max(by_count)
    return median([(many - one) / (most - least) for one, many in zip(by_count[least], by_count[most])])


def _memory(load: Load) -> list[Figure]:
    """What the programs made and keep is private anonymous memory; the resident size beside it has the shared files, too."""

    def theirs(value: Any) -> float | None:
        return value() if all(load.theirs_mb.get(count) for count in VIEWERS) else None

    # Later rounds reuse what the first one left, so the first says what viewers need.
    def growth(by_count: dict[int, list[float]]) -> float:
        return (by_count[4][0] - by_count[1][0]) / 3

    return [
        Figure(
            "anonymous memory, one viewer", "MB", max(load.ours_anonymous_mb[1]),
            theirs(lambda: max(load.theirs_anonymous_mb[1])), "webrtcbin", "ratio",
            note="largest of the rounds; webrtcbin's with the Python that holds it, its pictures drawn outside it",
            runs=load.ours_anonymous_mb,
        ),
        Figure(
            "resident memory (RSS), one viewer", "MB", max(load.ours_mb[1]), theirs(lambda: max(load.theirs_mb[1])),
            "webrtcbin", "ratio", note="the same with the files of program and libraries", runs=load.ours_mb,
        ),
        Figure(
            "each further viewer, anonymous memory", "MB", growth(load.ours_anonymous_mb),
            theirs(lambda: growth(load.theirs_anonymous_mb)), "webrtcbin", "ratio",
            note="from 1 to 4 viewers, a third of the difference, first round", runs=load.theirs_anonymous_mb,
        ).judged("< 2 MB", lambda f: f.ours < 2),
    ]  # fmt: skip


def _idle(load: Load) -> list[Figure]:
    theirs = median(load.theirs_idle) * 100 if load.theirs_idle else None
    note = f"before any viewer {load.idle[0] * 100:.2f} %, after the last left {load.idle[-1] * 100:.2f} %"
    figure = Figure("idle, no viewer", "% of a core", max(load.idle) * 100, theirs, "webrtcbin", "ratio", note=note)
    return [figure.judged("< 2 %", lambda f: f.ours < 2)]
