"""The network between child and parent."""

from __future__ import annotations

import time
from pathlib import Path

from cradle import sound
from measure import Bounds, Trial, kind
from row import row


#: Another address.
MOVED = Bounds(rings="link", goes_by_gap=True, may=("frozen-picture",))


def cut(trial: Trial, seconds: float) -> None:
    """The parent's cable is pulled out, and put in again."""
    trial.broken()
    trial.house.network.plug("parent", "down")
    time.sleep(seconds)
    trial.house.network.plug("parent", "up")
    trial.mended()
    trial.finish()


@row("network-2s", "the viewer has no network for 2 s", Bounds(), quick=True)
def network_2s(trial: Trial) -> None:
    cut(trial, 2)


@row("network-3s", "the viewer has no network for 3 s", Bounds(), quick=True)
def network_3s(trial: Trial) -> None:
    cut(trial, 3)


@row("network-10s", "the viewer has no network for 10 s", Bounds(rings="link"), quick=True)
def network_10s(trial: Trial) -> None:
    cut(trial, 10)


@row("network-10min", "the viewer has no network for 10 min", Bounds(rings="link"))
def network_10min(trial: Trial) -> None:
    cut(trial, 600)


def lose(trial: Trial, percent: int, seconds: float) -> None:
    """Of all packets, in both directions."""
    trial.broken()
    trial.house.network.lose(percent)
    time.sleep(seconds)
    rates = [line.figures["framesPerSecond"] for line in trial.house.parent.lines(trial.broken_at + 2)]
    trial.house.network.lose(0)
    trial.mended()
    trial.finish()
    trial.note(f"{sum(rates) / len(rates):.1f} of 15 fps.")


@row("loss-20-short", "20 % of all packets are lost for 15 s", Bounds(), quick=True)
def loss_20_short(trial: Trial) -> None:
    lose(trial, 20, 15)


@row("loss-5", "5 % of all packets are lost for 10 min", Bounds())
def loss_5(trial: Trial) -> None:
    lose(trial, 5, 600)


@row("loss-20", "20 % of all packets are lost for 10 min", Bounds())
def loss_20(trial: Trial) -> None:
    lose(trial, 20, 600)


#: What a program may hold more after two hours than after ten minutes: pages that the allocator keeps.
MEMORY_SLACK_KB = 1024


def held(pid: int) -> tuple[int, int, int]:
    """Anonymous memory in kB, descriptors and threads of a program."""
    process = Path("/proc") / str(pid)
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return (int(status["RssAnon"].split()[0]), len(list((process / "fd").iterdir())), int(status["Threads"]))


@row("evening", "5 % of all packets are lost for 2 h, and all of them for 2.5 s of each minute", Bounds(), long=True)
def evening(trial: Trial) -> None:
    house, minutes = trial.house, 120
    programs = {"baby unit": house.child.process.pid, "viewer": house.parent.process.pid}
    early: dict[str, tuple[int, int, int]] = {}
    for minute in range(minutes):
        trial.broken()
        house.network.lose(5)
        time.sleep(57.5)
        house.network.lose(100)
        time.sleep(2.5)
        house.network.lose(5)
        # Minute by minute: all of it at once were a gigabyte.
        rings = sound.ringing(sound.windows(house.parent.speaker, trial.broken_at))
        kinds = {name for line in house.parent.lines(trial.broken_at) if (name := kind(line)) is not None}
        trial.expect(not rings and not kinds, f"it rang in minute {minute + 1} ({', '.join(kinds) or 'heard'})")
        if minute == 9:
            early = {name: held(pid) for name, pid in programs.items()}
    for name, pid in programs.items():
        (before, *rest), (after, *others) = early[name], held(pid)
        trial.expect(after - before < MEMORY_SLACK_KB, f"the {name} holds {after - before} kB more than at first")
        trial.expect(
            all(last <= first + 2 for first, last in zip(rest, others)),
            f"the {name} has {others} descriptors and threads, at first {rest}")
        trial.note(f"The {name} held {before / 1024:.1f} MB after 10 min and {after / 1024:.1f} MB at the end.")
    house.network.lose(0)
    trial.mended()
    trial.finish()


def move(trial: Trial, host: str) -> None:
    trial.broken()
    trial.house.network.move(host, 7)
    trial.mended()
    trial.finish(40)


@row("address-changes", "the baby unit gets another address", MOVED, quick=True, has_avahi=True)
def address_changes(trial: Trial) -> None:
    move(trial, "child")


@row("parent-moves", "the viewer gets another address", MOVED, quick=True)
def parent_moves(trial: Trial) -> None:
    move(trial, "parent")


@row("parent-moves-nat", "the viewer gets another address, and the baby unit is behind a NAT", MOVED, quick=True, nat=True)
def parent_moves_nat(trial: Trial) -> None:
    move(trial, "parent")


@row("router-gone", "the router is off for 8 s", Bounds(rings="link"), quick=True)
def router_gone(trial: Trial) -> None:
    trial.broken()
    trial.house.network.switch("down")
    time.sleep(8)
    trial.house.network.switch("up")
    trial.mended()
    trial.finish()
