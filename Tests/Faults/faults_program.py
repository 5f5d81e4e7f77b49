"""The child's program: killed, stopped, stuck."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Callable

import things
from faults_devices import UNHURT
from cradle.house import wait_for
from measure import Bounds, Trial
from row import row


@row("child-killed", "the baby unit's program is killed (SIGKILL)", Bounds(rings="link", goes_by_gap=True), quick=True)
def child_killed(trial: Trial) -> None:
    child = trial.house.child
    trial.broken()
    os.kill(child.process.pid, signal.SIGKILL)
    wait_for("the child is started anew", 10, lambda: child.first("ready", trial.broken_at))
    trial.mended_at = child.first("started", trial.broken_at) or 0
    trial.finish()


@row("child-stopped", "the baby unit is switched off properly (SIGTERM), and on again after 8 s",
     Bounds(shows="child-stopped"), quick=True)  # fmt: skip
def child_stopped(trial: Trial) -> None:
    child = trial.house.child
    trial.broken()
    os.kill(child.process.pid, signal.SIGTERM)
    wait_for("the child ends", 10, lambda: child.first("ended", trial.broken_at))
    trial.expect(child.first("ended 0", trial.broken_at), "the child did not end with status 0")
    time.sleep(8)
    child.start_again()
    trial.mended()
    trial.finish()


@row("child-stands-still", "the baby unit's program hangs (SIGSTOP), until its watchdog ends it", Bounds(rings="link"),
     quick=True)  # fmt: skip
def child_stands_still(trial: Trial) -> None:
    child = trial.house.child
    trial.broken()
    os.kill(child.process.pid, signal.SIGSTOP)
    until_watchdog(trial, 40)


def until_watchdog(trial: Trial, limit: float, let_go: Callable[[], None] = lambda: None) -> None:
    child = trial.house.child
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline and child.first("watchdog", trial.broken_at) is None:
        time.sleep(0.1)
    let_go()
    ended = child.first("watchdog", trial.broken_at)
    trial.expect(ended, f"the watchdog did not end it within {limit:.0f} s")
    if ended:
        trial.note(f"The watchdog ended it after {ended - trial.broken_at:.0f} s.")
        wait_for("the child is started anew", 20, lambda: child.first("started", ended))
        trial.mended_at = child.first("started", ended) or 0
    else:
        trial.mended()
    trial.finish()


def stuck(trial: Trial, name: str, limit: float = 60, at_work: bool = False) -> None:
    """Threads of this name; which the service has to end and start anew."""
    child = trial.house.child
    trial.broken("is stuck")
    still = things.StillThreads(child.process.pid, child.thread_ids(name))
    try:
        if at_work:
            still.catch_at_work()
            trial.broken_at = time.monotonic()
        until_watchdog(trial, limit, still.close)
    finally:
        still.close()


def no_freezer() -> str | None:
    return None if things.hierarchy() else "single threads can only be held in a writable cgroup v2"


@row("loop-stuck", "the baby unit's event loop stops responding", Bounds(rings="link"), obstacle=no_freezer)
def loop_stuck(trial: Trial) -> None:
    stuck(trial, "NIO-ELT-")


@row("encoder-stuck", "the baby unit's encoder never finishes a frame", Bounds(rings="frozen-picture", may=("link",)),
     obstacle=no_freezer)  # fmt: skip
def encoder_stuck(trial: Trial) -> None:
    stuck(trial, "encode", at_work=True)


@row("microphone-stuck", "the thread that reads the baby unit's microphone stops responding", Bounds(rings="microphone", may=("link",)),
     obstacle=no_freezer)  # fmt: skip
def microphone_stuck(trial: Trial) -> None:
    stuck(trial, "sound", 150)


@row("viewer-stands-still", "another viewer's program hangs (SIGSTOP) for 12 s", Bounds(lost=UNHURT), quick=True)
def viewer_stands_still(trial: Trial) -> None:
    other = trial.house.another_parent("other")
    other.watch()
    assert other.process
    wait_for("the other one sees", 20, lambda: any(line.figures["framesPerSecond"] > 5 for line in other.lines()))
    trial.broken()
    os.kill(other.process.pid, signal.SIGSTOP)
    time.sleep(12)
    rates = [line.figures["framesPerSecond"] for line in trial.house.parent.lines(trial.broken_at + 1)]
    trial.expect(min(rates) >= 12, f"only {min(rates)} pictures a second at the first one")
    os.kill(other.process.pid, signal.SIGCONT)
    trial.mended()
    trial.finish()


def usage(process: int) -> dict[str, int]:
    status = Path(f"/proc/{process}/status").read_text()
    threads = next(line.split()[1] for line in status.splitlines() if line.startswith("Threads:"))
    return {"descriptors": len(os.listdir(f"/proc/{process}/fd")), "threads": int(threads)}


def come_and_go(trial: Trial, cycles: int) -> None:
    other = trial.house.another_parent("other")
    process = trial.house.child.process.pid

    def cycle() -> None:
        other.command("watch", "--stats", "--mute", "--duration", "0.3")

    def rested() -> dict[str, int]:
        """The least within some seconds: those who have just gone are still being put away."""
        seen = []
        for _ in range(10):
            time.sleep(0.4)
            seen.append(usage(process))
        return {name: min(entry[name] for entry in seen) for name in seen[0]}

    # The first ones make what stays.
    cycle()
    cycle()
    before = rested()
    trial.broken()
    for _ in range(cycles):
        cycle()
    after = rested()
    for name in before:
        trial.expect(after[name] <= before[name], f"{name}: {before[name]} before, {after[name]} after")
    trial.note(", ".join(f"{name} {before[name]} → {after[name]}" for name in before).capitalize() + ".")
    trial.mended()
    trial.finish()


@row("come-and-go", "another viewer connects and leaves, 20 times", Bounds(), quick=True)
def come_and_go_20(trial: Trial) -> None:
    come_and_go(trial, 20)


@row("come-and-go-100", "another viewer connects and leaves, 100 times", Bounds())
def come_and_go_100(trial: Trial) -> None:
    come_and_go(trial, 100)
