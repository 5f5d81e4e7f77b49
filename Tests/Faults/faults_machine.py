"""What surrounds the child's program: discovery, disk, clock, names, memory."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from typing import Callable

import things
from faults_devices import UNHURT
from cradle.house import end, run, wait_for
from measure import Bounds, Trial
from row import row


def advertised(trial: Trial) -> Callable[[], bool]:
    return lambda: trial.house.parent.finds("Nursery")


def begin_again(trial: Trial, index: int) -> None:
    """A daemon at the child: 0 the bus, 1 Avahi."""
    daemon = trial.house.daemons[0]
    old = daemon.processes[index]
    daemon.processes[index] = subprocess.Popen(
        old.args, env=os.environ | daemon.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)  # fmt: skip


def is_found_again(trial: Trial) -> None:
    wait_for("the child is found again", 40, advertised(trial))
    trial.note(f"Found again {time.monotonic() - trial.mended_at:.0f} s after.")


@row("avahi-restarted", "the baby unit's avahi-daemon is restarted", Bounds(lost=UNHURT), quick=True, has_avahi=True)
def avahi_restarted(trial: Trial) -> None:
    wait_for("the child is found", 20, advertised(trial))
    trial.broken("viewers do not find this baby unit")
    end(trial.house.daemons[0].processes[1])
    time.sleep(1)
    begin_again(trial, 1)
    trial.mended()
    is_found_again(trial)
    trial.finish()


@row("bus-gone", "the baby unit's message bus (D-Bus), and Avahi with it, is gone for 6 s", Bounds(lost=UNHURT), quick=True,
     has_avahi=True)  # fmt: skip
def bus_gone(trial: Trial) -> None:
    wait_for("the child is found", 20, advertised(trial))
    daemon = trial.house.daemons[0]
    trial.broken("viewers do not find this baby unit")
    end(daemon.processes[0])
    time.sleep(6)
    end(daemon.processes[1])
    (daemon.folder / "bus").unlink(missing_ok=True)
    begin_again(trial, 0)
    wait_for("the bus", 10, (daemon.folder / "bus").exists)
    begin_again(trial, 1)
    trial.mended()
    is_found_again(trial)
    trial.finish()


def until_told(trial: Trial, what: Callable[[dict], bool]) -> None:  # type: ignore[type-arg]
    begin = time.time() - (time.monotonic() - trial.broken_at)

    def told() -> bool:
        # Each time it connects to the child, which takes time that the sound needs.
        time.sleep(2)
        return any(what(event) and event["time"] >= begin - 1 for event in trial.house.events())

    try:
        wait_for("an event", 45, told)
        event = next(event for event in trial.house.events() if what(event) and event["time"] >= begin - 1)
        trial.said_at = trial.broken_at + max(0, event["time"] - begin)
        trial.note(f"Event `health`, `{event['level']}`: {event['detail'].replace(str(trial.house.folder), '')}.")
    except Exception as error:
        trial.expect(False, f"no event health of the storage: {error}")


def is_storage(event: dict) -> bool:  # type: ignore[type-arg]
    return event["kind"] == "health" and event.get("id") == "storage"


@row("disk-full", "the disk with the baby unit's state is full", Bounds(lost=UNHURT, found=35), prepare=things.state_on_small_disk)
def disk_full(trial: Trial) -> None:
    disk = trial.house.things["disk"]
    trial.broken()
    disk.fill()
    until_told(trial, is_storage)
    disk.empty()
    trial.mended()
    trial.finish()


@row("disk-read-only", "the disk with the baby unit's state can only be read", Bounds(lost=UNHURT, found=35),
     prepare=things.state_on_small_disk)  # fmt: skip
def disk_read_only(trial: Trial) -> None:
    """As the child sees it: over its folder lies the same one, read-only."""
    state, other = trial.house.child.state, trial.house.folder / "read-only"
    other.mkdir()
    inside = ["nsenter", f"--target={trial.house.child.process.pid}", "--mount"]
    trial.broken()
    run(*inside, "mount", "--bind", str(state), str(other))
    run(*inside, "mount", "-o", "remount,bind,ro", str(other))
    run(*inside, "mount", "--bind", str(other), str(state))
    until_told(trial, is_storage)
    run(*inside, "umount", str(state))
    trial.mended()
    trial.finish()


def no_faketime() -> str | None:
    return None if things.FAKETIME else "the package libfaketime is missing"


def set_clock(trial: Trial, setting: str) -> None:
    trial.broken()
    trial.house.things["clock"].write_text(setting + "\n")
    wait_for("an event clock-set", 10, lambda: any(event["kind"] == "clock-set" for event in trial.house.events()))
    event = next(event for event in trial.house.events() if event["kind"] == "clock-set")
    trial.note(f"Event `clock-set`: {event['detail']}.")
    time.sleep(5)
    trial.house.things["clock"].write_text("+0\n")
    trial.mended()
    trial.finish()


@row("clock-ahead", "the baby unit's clock is set an hour ahead, and back", Bounds(lost=UNHURT), quick=True, obstacle=no_faketime,
     prepare=things.clock_of_its_own)  # fmt: skip
def clock_ahead(trial: Trial) -> None:
    set_clock(trial, "+3600")


@row("clock-back", "the baby unit's clock is set an hour back, and right again", Bounds(lost=UNHURT), quick=True,
     obstacle=no_faketime, prepare=things.clock_of_its_own)  # fmt: skip
def clock_back(trial: Trial) -> None:
    set_clock(trial, "-3600")


@row("clock-1970", "the baby unit's clock is set to 1970, and right again", Bounds(lost=UNHURT), quick=True, obstacle=no_faketime,
     prepare=things.clock_of_its_own)  # fmt: skip
def clock_1970(trial: Trial) -> None:
    set_clock(trial, f"-{int(time.time()) - 3600}")


@row("no-names", "no name server answers, and there is no internet", Bounds(lost=UNHURT), quick=True,
     prepare=things.names_from_nowhere)  # fmt: skip
def no_names(trial: Trial) -> None:
    """From the start on: the house was opened, paired and watched without."""
    trial.broken()
    begin = time.monotonic()
    trial.house.parent.command("status", "--json")
    took = time.monotonic() - begin
    trial.expect(took < 3, f"status took {took:.1f} s")
    first = trial.house.parent.last["timeToFirstFrameMs"]
    trial.expect(first < 2000, f"the first picture came after {first} ms")
    trial.note(f"The first picture came after {first / 1000:.1f} s, `status` took {took:.1f} s.")
    trial.finish()


@row("memory-refused", "the baby unit gets no more memory from the system", Bounds(rings="link", goes_by_gap=True), quick=True)
def memory_refused(trial: Trial) -> None:
    child = trial.house.child
    process = child.process.pid
    trial.broken()
    with open(f"/proc/{process}/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.prlimit(process, resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))
    # Work that needs some.
    other = trial.house.another_parent("other")
    try:
        other.command("screenshot", "-o", str(trial.house.folder / "still.jpg"))
        trial.note("Another viewer was let in, and got a photo.")
    except Exception:
        trial.note("Another viewer got no photo.")
    time.sleep(3)
    ended = child.first("ended", trial.broken_at)
    trial.mended_at = (child.first("started", trial.broken_at) or time.monotonic()) if ended else time.monotonic()
    trial.note("It ended, and was restarted." if ended else "It continued.")
    if not ended:
        resource.prlimit(process, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    trial.finish()
