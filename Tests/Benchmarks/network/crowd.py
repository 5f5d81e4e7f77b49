"""Many viewers of one child on a good network, and two on bad ones who come later: does anybody notice them?

The many are light (crowd_viewers.py): what they receive is counted, not decoded. The two are cradle-parent, each beyond a cable
of his own. First the many alone for a while, then all, then the many alone again; what they have with the two is held against what they
have without. Where nobody comes later,
one of the many alone and all of them take turns: that is what each of the others costs the child.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Callable, Sequence

from network import figures as network_figures
import paired_parent
from network.cable import NetworkCable
from network.models import Network
from servers import PROGRAMS, MeasuredChild, Problem, Watchers
from cradle import processes

#: Before each of the times that are compared.
SETTLE_SECONDS = 20
#: One and all take turns, because a virtual machine's processor is not as fast in one minute as in another.
TURNS = 3
#: For all to have the large picture.
PATIENCE_SECONDS = 120
#: A child takes four viewers of one token or one parent, and 24 with tokens: the other places are for paired parents.
VIEWERS_EACH = 4
MOST_TOKENS = 6
WEAK = {
    "400 kbit/s": Network(rates=((0, 400),), queue_ms=500),
    "20 % lost": Network(loss_percent=20),
}


@dataclass(frozen=True)
class Crowd:
    name: str
    count: int
    has_weak: bool
    title: str
    goal: str


CROWDS = [
    Crowd(
        "crowd-15", 15, True, "15 viewers on the LAN, 1 at 400 kbit/s, 1 at 20 % loss",
        "the 15: ≥ 29.5 frames a second, no key frame more, rate −5 % at most",
    ),
    Crowd(
        "crowd-32", 32, False, "32 viewers on the LAN",
        "each ≥ 29.5 frames a second, as received; each costs ≤ 2 % of the encoding",
    ),
]  # fmt: skip


@dataclass
class Moment:
    time: float
    frames: list[int]
    packets: list[int]
    #: As received; those of a smaller picture cost the many nothing.
    key_frames: list[int]
    #: Of the large picture.
    encoded: int
    targets: Any
    child_seconds: float
    #: Of its encoders alone.
    encoder_seconds: float


def moment(viewers: Watchers, child: MeasuredChild) -> Moment:
    report, camera, threads = viewers.tell("report"), child.camera(), child.thread_seconds()
    pictures = [one["video"] for one in report["received"]]
    frames, packets, key_frames = ([one[name] for one in pictures] for name in ("frames", "packets", "keyFrames"))
    encoded = next(int(rendition["encoded"]) for rendition in camera["renditions"] if rendition["name"] == "high")
    return Moment(
        report["time"], frames, packets, key_frames, encoded, camera.get("targetKbps"), sum(threads.values()), threads.get("encode", 0),
    )  # fmt: skip


def between(before: Moment, after: Moment) -> dict[str, Any]:
    seconds = after.time - before.time
    frames = [(last - first) / seconds for first, last in zip(before.frames, after.frames)]
    packets = [(last - first) / seconds for first, last in zip(before.packets, after.packets)]
    return {
        "viewers": len(frames), "times": [(before.time, after.time)],
        "leastFramesPerSecond": round(min(frames), 2), "meanFramesPerSecond": round(sum(frames) / len(frames), 2),
        "packetsPerSecond": round(sum(packets) / len(packets), 1), "encodedPerSecond": round((after.encoded - before.encoded) / seconds, 2),
        "keyFrames": max(last - first for first, last in zip(before.key_frames, after.key_frames)), "targetKbps": after.targets,
        "childCores": round((after.child_seconds - before.child_seconds) / seconds, 4),
        "encoderCores": round((after.encoder_seconds - before.encoder_seconds) / seconds, 4),
    }  # fmt: skip


def merged(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Several times of the same length."""

    def all_of(name: str) -> list[Any]:
        return [part[name] for part in parts]

    rates = ("meanFramesPerSecond", "packetsPerSecond", "encodedPerSecond", "childCores", "encoderCores")
    return parts[-1] | {
        "times": sum(all_of("times"), []), "leastFramesPerSecond": min(all_of("leastFramesPerSecond")), "keyFrames": max(all_of("keyFrames")),
    } | {name: round(sum(all_of(name)) / len(parts), 4) for name in rates}  # fmt: skip


def measure(
    crowd: Crowd, programs: tuple[str, str, str], kbps: tuple[int, int], seed: int, seconds: float, weak_viewer: Callable[..., Any]
) -> dict[str, Any]:
    """`programs`: cradle-child, cradle-parent, cradle-benchmarks. `weak_viewer`: makes a viewer of (cable, url, child, seconds) that is a context."""
    found: dict[str, Any] = {"crowd": crowd.count, "weak": {}}
    with NetworkCable(Network(delay_ms=2), seed) as lan:
        with ExitStack() as stack:
            child = stack.enter_context(MeasuredChild(programs[0], lan, kbps=kbps))
            viewers = stack.enter_context(_many(crowd.count, child, lan, programs, stack))
            began = lan.start()
            if crowd.has_weak:
                found["alone"] = _observe(viewers, child, crowd.count, seconds, asks_target=True)
                with ExitStack() as weak_stack:
                    found["together"], found["weak"] = _together(child, lan, viewers, seed, seconds, weak_viewer, weak_stack)
                found["after"] = _observe(viewers, child, crowd.count, seconds, asks_target=True)
            else:
                turns = [[_observe(viewers, child, count, seconds / TURNS) for count in (1, crowd.count)] for _ in range(TURNS)]
                found["one"], found["alone"] = (merged(parts) for parts in zip(*turns))
                found["turnsPercent"] = [costs(one, many)[0] for one, many in turns]
    # What passed is told when the cable is taken away.
    for part in [found[name] for name in ("one", "alone", "together", "after") if name in found]:
        within = [
            row[2] for row in lan.carried[0]["seconds"]
            if any(first <= began + row[0] and began + row[0] + 1 <= last for first, last in part["times"])
        ]  # fmt: skip
        part["kbpsEach"] = round(sum(within) * 8 / 1000 / len(within) / part["viewers"], 1)
    if crowd.has_weak:
        found["short"] = compared(found["alone"], found["together"], found["after"])
    else:
        found["addedPercent"], found["withoutEncoderPercent"], found["short"] = costs(found["one"], found["alone"])
    return found


def _many(count: int, child: MeasuredChild, lan: NetworkCable, programs: tuple[str, str, str], stack: ExitStack) -> Watchers:
    families = -(-count // VIEWERS_EACH)
    tokens = [child.another_token(f"crowd {number}") for number in range(min(families, MOST_TOKENS))]
    paired = []
    for _ in range(families - len(tokens)):
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cradle-crowd-"))
        parent = paired_parent.PairedParent(programs[1], folder, lan.prefix(1))
        parent.pair(child)
        paired.append(parent.state)
    command = [*lan.prefix(1), sys.executable, str(PROGRAMS / "crowd_viewers.py"), "--url", f"https://{child.host}:{child.port}"]
    command += ["--benchmarks", programs[2], "--token", ",".join(tokens), "--paired", ",".join(paired)]
    return Watchers(child, command)


def _observe(many: Watchers, child: MeasuredChild, count: int, seconds: float, asks_target: bool = False) -> dict[str, Any]:
    """What so many have, once all of them have had the large picture for a while."""
    many.tell(f"keep {count}")
    many.grow_to(count)
    began = settled = time.monotonic()
    while time.monotonic() < settled + SETTLE_SECONDS:
        if not all(viewer.get("picture") == "high" for viewer in child.ask("status")["viewers"]):
            settled = time.monotonic()
        if settled > began + PATIENCE_SECONDS:
            raise Problem(f"not all {count} viewers have the large picture after {PATIENCE_SECONDS} s")
        time.sleep(1)
    processes.log(f"    {count} have the large picture from {settled - began:.0f} s on")
    return _for_a_while(many, child, seconds, asks_target)


def _for_a_while(many: Watchers, child: MeasuredChild, seconds: float, asks_target: bool) -> dict[str, Any]:
    """`asks_target`: also what the encoder is asked for. It costs the child a little."""
    first = moment(many, child)
    targets = []
    until = time.monotonic() + seconds
    while asks_target and time.monotonic() < until:
        targets.append(child.camera()["targetKbps"])
        time.sleep(1)
    time.sleep(max(0, until - time.monotonic()))
    found = between(first, moment(many, child))
    return found | ({"meanTargetKbps": round(sum(targets) / len(targets), 1)} if targets else {})


def costs(one: dict[str, Any], many: dict[str, Any]) -> tuple[float, float, list[str]]:
    """What each further viewer costs the child, in % of encoding for one: in all, and without the encoder's thread; what is short of the goal.

    The goal is for all. Each picture is encoded once, however many watch, but what that costs differs from minute to minute.
    """

    def each(cores: Callable[[dict[str, Any]], float]) -> float:
        return round(100 * (cores(many) - cores(one)) / (many["viewers"] - one["viewers"]) / one["encoderCores"], 2)

    added = each(lambda found: found["childCores"])
    short = [f"{many['leastFramesPerSecond']} frames/s"] if many["leastFramesPerSecond"] < 29.5 else []
    short += [f"{added:.1f} % of the encoding each"] if added > 2 else []
    return added, each(lambda found: found["childCores"] - found["encoderCores"]), short


def compared(alone: dict[str, Any], together: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What the many have lost by the others.

    For the same target the encoder has two rates, up to a seventh apart, and changes from one to the other by itself. So it counts what they
    are sent less than before and less than after, and, apart from that, for how much less the encoder was asked.
    """
    short = []
    if together["leastFramesPerSecond"] < 29.5:
        short.append(f"{together['leastFramesPerSecond']} frames/s")
    if together["keyFrames"] > alone["keyFrames"]:
        short.append(f"{together['keyFrames'] - alone['keyFrames']} key frames more")
    for name, key in (("rate", "kbpsEach"), ("target", "meanTargetKbps")):
        change = together[key] / min(alone[key], after[key]) * 100 - 100
        if change < -5:
            short.append(f"{name} {change:+.0f} %")
    return short


def _together(
    child: MeasuredChild, lan: NetworkCable, many: Watchers, seed: int, seconds: float, weak_viewer: Callable[..., Any],
    stack: ExitStack,
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    viewers = {}
    for number, (name, network) in enumerate(WEAK.items(), 1):
        cable = stack.enter_context(NetworkCable(network, seed, True, lan, number))
        url = f"https://{cable.address(0)}:{child.port}/whep"
        viewers[name] = (cable, stack.enter_context(weak_viewer(cable, url, child, 3 * SETTLE_SECONDS + seconds)))
    for cable, viewer in viewers.values():
        viewer.wait_for_picture()
        cable.start()
    time.sleep(SETTLE_SECONDS)
    since = time.time()
    together = _for_a_while(many, child, seconds, asks_target=True)
    weak = {}
    for name, (_, viewer) in viewers.items():
        record, _ = viewer.finish(since, seconds - 2)
        weak[name] = str(network_figures.seen(record, seconds - 2))
        processes.log(f"    {name}: {weak[name]}")
    return together, weak
