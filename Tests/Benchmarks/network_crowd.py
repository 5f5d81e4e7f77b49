"""Many viewers of one child on a good network, and two on bad ones who come later: does anybody notice them?

The many are light (watchers.py): what they receive is counted, not decoded. The two are cradle-parent, each beyond a cable of
his own. First the many alone for a while, then all; what the many have then is held against what they had.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Callable

import network_figures
from network_cable import NetworkCable
from network_models import Network
from servers import Child, Watchers, common

#: Before each of the two times that are compared: the many have no quick way to say how much more would pass.
SETTLE_SECONDS = 20
#: A child takes four viewers of one token.
VIEWERS_A_TOKEN = 4
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
    Crowd("crowd-32", 32, False, "32 viewers on the LAN", "each ≥ 29.5 frames a second, as received"),
]  # fmt: skip


@dataclass
class Moment:
    time: float
    frames: list[int]
    packets: list[int]
    encoded: int
    key_frames: int
    targets: Any
    child_seconds: float


def moment(watchers: Watchers, child: Child) -> Moment:
    report, camera = watchers.tell("report"), child.camera()
    pictures = [one.get("video", {}) for one in report["received"]]
    return Moment(
        report["time"], [one.get("frames", 0) for one in pictures], [one.get("packets", 0) for one in pictures], int(camera["encoded"]),
        int(camera["keyFrames"]), camera.get("targetKbps"), sum(child.thread_seconds().values()),
    )  # fmt: skip


def between(before: Moment, after: Moment) -> dict[str, Any]:
    seconds = after.time - before.time
    frames = [(last - first) / seconds for first, last in zip(before.frames, after.frames)]
    packets = [(last - first) / seconds for first, last in zip(before.packets, after.packets)]
    return {
        "began": before.time, "ended": after.time, "leastFramesPerSecond": round(min(frames), 2), "meanFramesPerSecond": round(sum(frames) / len(frames), 2),
        "packetsPerSecond": round(sum(packets) / len(packets), 1), "encodedPerSecond": round((after.encoded - before.encoded) / seconds, 2),
        "keyFrames": after.key_frames - before.key_frames, "targetKbps": after.targets,
        "childCores": round((after.child_seconds - before.child_seconds) / seconds, 3),
    }  # fmt: skip


def measure(
    crowd: Crowd, child_program: str, kbps: tuple[int, int], seed: int, seconds: float, weak_viewer: Callable[..., Any]
) -> dict[str, Any]:
    """`weak_viewer`: makes a viewer of (cable, url, child, seconds) that is a context."""
    found: dict[str, Any] = {"crowd": crowd.count, "weak": {}}
    with NetworkCable(Network(delay_ms=2), seed) as lan:
        with ExitStack() as stack:
            child = stack.enter_context(Child(child_program, lan, kbps=kbps))
            tokens = [child.token] + [child.another_token(f"crowd {number}") for number in range((crowd.count - 1) // VIEWERS_A_TOKEN)]
            watchers = stack.enter_context(Watchers(child, lan.prefix(1), tokens))
            watchers.grow_to(crowd.count)
            began = lan.start()
            time.sleep(SETTLE_SECONDS)
            first = moment(watchers, child)
            time.sleep(seconds)
            found["alone"] = between(first, moment(watchers, child))
            if crowd.has_weak:
                found["together"], found["weak"] = _together(child, lan, watchers, seed, seconds, weak_viewer, stack)
    # What passed is told when the cable is taken away.
    for part in [found[name] for name in ("alone", "together") if name in found]:
        within = [row[2] for row in lan.carried[0]["seconds"] if part["began"] <= began + row[0] and began + row[0] + 1 <= part["ended"]]
        part["kbpsEach"] = round(sum(within) * 8 / 1000 / len(within) / crowd.count, 1)
    least = found["alone"]["leastFramesPerSecond"]
    found["short"] = compared(found["alone"], found["together"]) if crowd.has_weak else [f"{least} frames/s"] if least < 29.5 else []
    return found


def compared(alone: dict[str, Any], together: dict[str, Any]) -> list[str]:
    """What the many have lost by the others."""
    short = []
    if together["leastFramesPerSecond"] < 29.5:
        short.append(f"{together['leastFramesPerSecond']} frames/s")
    if together["keyFrames"] > alone["keyFrames"]:
        short.append(f"{together['keyFrames'] - alone['keyFrames']} key frames more")
    if together["kbpsEach"] < 0.95 * alone["kbpsEach"]:
        short.append(f"rate {together['kbpsEach'] / alone['kbpsEach'] * 100 - 100:+.0f} %")
    return short


def _together(
    child: Child, lan: NetworkCable, watchers: Watchers, seed: int, seconds: float, weak_viewer: Callable[..., Any],
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
    first, since = moment(watchers, child), time.time()
    time.sleep(seconds)
    together = between(first, moment(watchers, child))
    weak = {}
    for name, (_, viewer) in viewers.items():
        record, _ = viewer.finish(since, seconds - 2)
        weak[name] = str(network_figures.seen(record, seconds - 2))
        common.log(f"    {name}: {weak[name]}")
    return together, weak
