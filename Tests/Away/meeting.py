"""What a meeting place may do to a session: nothing. Kills it, names another one, moves both ends to other networks, stops the child.

    meeting.py --child PROGRAM --parent PROGRAM --rendezvous PROGRAM [--json FILE] [ROW ...]

Both ends are behind port-restricted routers that forward nothing. They meet at a cradle-rendezvous, at an MQTT broker (mosquitto)
or at an XMPP server (prosody), each alone where the row does not say otherwise. Needs root, nftables, coturn, mosquitto and
prosody. Prints a line for each row.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cradle.ends import AwayChild, Parent
from cradle.internet import CHILD_PORT, SERVER, Internet
from cradle.meeting_servers import SECRET, Broker, Coturn, Place, Rendezvous, XMPPServer
from watching import Watching

HOME = "port-restricted"
ABSENT = "the child is not there"
KINDS = ("rendezvous", "mqtt", "xmpp")


class World:
    """A pair that knows each other from home, and the places where they meet from now on."""

    def __init__(self, options: argparse.Namespace, folder: Path, internet: Internet):
        self.options, self.folder, self.internet = options, folder, internet
        self.places: dict[str, Place] = {}
        self.met: tuple[str, ...] = ()
        internet.child.connect("none")
        self.coturn = Coturn(internet, folder)
        self.relay = f"[{{urls: ['turn:{SERVER}:3478?transport=udp'], secret: {SECRET}}}]"
        self.child = AwayChild(options.child, internet.child, folder)
        self.parent = Parent(options.parent, internet.parent, folder)
        self.parent.pair_at_home(self.child, f"{internet.child.public}:{CHILD_PORT}")

    def place(self, kind: str) -> Place:
        """It is started when it is first asked for."""
        if kind not in self.places:
            internet, folder = self.internet, self.folder
            self.places[kind] = (
                Rendezvous(self.options.rendezvous, internet, folder, self.relay) if kind == "rendezvous"
                else Broker(internet, folder) if kind == "mqtt" else XMPPServer(internet, folder))  # fmt: skip
        return self.places[kind]

    def meet_at(self, *kinds: str) -> Place:
        """Both know of these places alone. A broker lends no relay, so there the child names it."""
        first, *_ = places = [self.place(kind) for kind in kinds]
        if kinds == self.met:
            return first
        self.child.close()
        self.internet.child.connect("none")
        meetings = f"[{', '.join(place.meeting for place in places)}]"
        self.child.configure("[]" if kinds == ("rendezvous",) else self.relay, meetings, ", relay-data: 1M")
        self.child.start()
        self.parent.learn(self.child)
        self.internet.child.connect(HOME)
        self.internet.parent.connect(HOME)
        self.child.wait_until_met()
        self.met = kinds
        return first

    @property
    def logs(self) -> list[Path]:
        return [self.child.log, *(place.log for place in self.places.values())]

    def close(self) -> None:
        self.child.close()
        for place in self.places.values():
            place.close()
        self.coturn.close()


def killed(world: World, kind: str) -> dict[str, Any]:
    """The place is gone for some seconds: nothing happens to the session, and the child comes back by itself."""
    place = world.meet_at(kind)
    watching = Watching(world.parent, 11)
    watching.wait_for_picture()
    at = time.monotonic()
    place.close()
    time.sleep(5)
    place.start()
    last = watching.end()
    world.child.wait_until_met()
    silent, presence = watching.silent_seconds(at), world.parent.presence
    return {
        "silentSeconds": silent, "reconnects": last.get("reconnects"), "freezes": last.get("freezeCount"), "presence": presence,
        "ok": silent == 0 and watching.is_heard and last.get("reconnects") == 0 and presence == "present",
    }  # fmt: skip


def dead(world: World, kind: str) -> dict[str, Any]:
    """The only place does not run when the parent wants in: it says which one, and gets in when it is back."""
    place = world.meet_at(kind)
    place.close()
    presence = world.parent.presence
    watching = Watching(world.parent, 20)
    watching.end()
    told, tried = watching.told_after(place.name), watching.told_after("at its meeting place", place.name)
    place.start()
    world.child.wait_until_met()
    again = Watching(world.parent, 20)
    again.wait_for_picture()
    again.stop()
    return {
        "toldAfterSeconds": told, "endedAfterSeconds": tried, "presence": presence, "said": watching.said,
        "ok": told is not None and told < 3 and tried is not None and presence == "unreachable",
    }  # fmt: skip


def another(kind: str) -> str:
    return KINDS[(KINDS.index(kind) + 1) % len(KINDS)]


def other(world: World, kind: str) -> dict[str, Any]:
    """Of two places one does not run: they meet at the other."""
    place = world.meet_at(kind, another(kind))
    place.close()
    watching = Watching(world.parent, 40)
    watching.wait_for_picture(15)
    picture = watching.lines[-1][0]
    watching.stop()
    place.start()
    world.child.wait_until_met()
    return {"pictureAfterSeconds": round(picture, 1), "ok": True, "said": watching.said}


def offered(world: World, kind: str) -> dict[str, Any]:
    """A place dies with an offer that the child has not answered yet: the answer comes through the other one.

    The other one says nothing until then, so that the offer cannot have gone to it.
    """
    second = world.place(another(kind))
    place = world.meet_at(kind, another(kind))
    second.process.send_signal(signal.SIGSTOP)
    world.child.process.send_signal(signal.SIGSTOP)
    before = place.log.stat().st_size
    watching = Watching(world.parent, 40)
    deadline = time.monotonic() + 20
    # A broker tells in its log when it has the offer; at an XMPP server none is made.
    while kind == "mqtt" and b"/in'" not in place.log.read_bytes()[before:] and time.monotonic() < deadline:
        time.sleep(0.1)
    if kind != "mqtt":
        time.sleep(2)
    second.process.send_signal(signal.SIGCONT)
    place.close()
    world.child.process.send_signal(signal.SIGCONT)
    at = time.monotonic()
    watching.wait_for_picture(30)
    picture = time.monotonic() - at
    watching.stop()
    place.start()
    world.child.wait_until_met()
    # Less than a person waits for; nothing is said of a place that another one makes good.
    return {"pictureAfterSeconds": round(picture, 1), "said": watching.said, "ok": picture < 15}


def stopped(world: World, kind: str) -> dict[str, Any]:
    """The child's program is stopped: a parent far away is told so at once, although the child's address says nothing."""
    world.meet_at(kind)
    there = world.parent.presence
    world.child.close()
    gone = world.parent.presence
    told = (watching := Watching(world.parent, 6)).wait_until_told(ABSENT)
    world.child.start()
    world.child.wait_until_met()
    return {
        "toldAfterSeconds": told, "presence": [there, gone], "said": watching.said,
        # A parent that waits for the child's address waits 5 s.
        "ok": told is not None and told < 4.5 and [there, gone] == ["present", "absent"],
    }  # fmt: skip


def moved(world: World, who: str) -> dict[str, Any]:
    """One end goes to another network, with another address: the same session goes on there."""
    world.meet_at("rendezvous")
    watching = Watching(world.parent, 15)
    watching.wait_for_picture()
    time.sleep(2)
    side = getattr(world.internet, who)
    side.home = "192.168.7" if side.home != "192.168.7" else "192.168.8"
    at = time.monotonic()
    side.connect(HOME)
    last = watching.end()
    silent = watching.silent_seconds(at)
    return {
        "silentSeconds": silent, "reconnects": last.get("reconnects"),
        "ok": silent < 8 and watching.is_heard and last.get("reconnects") == 0,
    }  # fmt: skip


def vanished(world: World) -> dict[str, Any]:
    """The child loses its power: the place finds out when somebody comes to meet it."""
    world.meet_at("rendezvous")
    side = world.internet.child
    # Of a killed program the kernel would close the connection; a board without power does not.
    subprocess.run(["ip", "-n", side.routers[0], "link", "set", "wan", "down"], check=True)
    told = (watching := Watching(world.parent, 12)).wait_until_told(ABSENT)
    subprocess.run(["ip", "-n", side.routers[0], "link", "set", "wan", "up"], check=True)
    subprocess.run(["ip", "-n", side.routers[0], "route", "add", "default", "via", side.gateway], check=True)
    world.child.wait_until_met()
    return {"toldAfterSeconds": told, "ok": told is not None and told < 10, "said": watching.said}


def used_up(world: World) -> dict[str, Any]:
    """As much has passed through the relay as a night may cost: the picture stays away and says why, the sound goes on."""
    world.meet_at("rendezvous")
    world.internet.child.connect("symmetric")
    world.internet.parent.connect("symmetric")
    world.child.wait_until_met()
    watching = Watching(world.parent, 90)
    watching.wait_for_picture()
    deadline = time.monotonic() + 80
    told: dict[str, Any] = {}
    while time.monotonic() < deadline and told.get("pictureReason") != "relay-data":
        time.sleep(0.5)
        told = next(iter((world.child.status() or {}).get("viewers", [])), {})
    at = time.monotonic()
    time.sleep(3)
    silent = watching.silent_seconds(at)
    watching.stop()
    world.internet.child.connect(HOME)
    world.internet.parent.connect(HOME)
    return {
        "picture": told.get("picture"), "reason": told.get("pictureReason"), "silentSeconds": silent,
        "ok": told.get("picture") == "none" and told.get("pictureReason") == "relay-data" and silent == 0,
    }  # fmt: skip


#: For each kind of place.
PLACES: dict[str, Callable[[World, str], dict[str, Any]]] = {
    "killed": killed, "stopped": stopped, "dead": dead, "other": other, "offered": offered,
}  # fmt: skip
ROWS: dict[str, Callable[[World], dict[str, Any]]] = {
    **{f"{name}-{kind}": partial(row, kind=kind) for kind in KINDS for name, row in PLACES.items()},
    "parent-moves": partial(moved, who="parent"),
    "child-moves": partial(moved, who="child"),
    "child-without-power": vanished,
    "relay-data-used": used_up,
}


def run_rows(description: str, rows: dict[str, Callable[[World], dict[str, Any]]]) -> int:
    """A command's whole work: those of the rows that its arguments name, or all. The exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--rendezvous", required=True)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(rows))
    options = parser.parse_args()
    if unknown := set(options.rows) - set(rows):
        parser.error(f"no row {', '.join(sorted(unknown))}")
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="cradle-away-") as temporary, Internet(is_forwarded=False) as internet:
        world = World(options, Path(temporary), internet)
        try:
            for name in options.rows or rows:
                result = rows[name](world)
                results[name] = result
                said = result.pop("said", None)
                print(f"{'ok   ' if result['ok'] else 'WRONG'} {name}: {json.dumps(result)}", flush=True)
                if not result["ok"] and said:
                    print(f"  the parent said: {said}", flush=True)
        finally:
            world.close()
        wrong = [name for name, result in results.items() if not result["ok"]]
        if wrong:
            for log in world.logs:
                print(log.read_text("utf-8", "replace")[-3000:], file=sys.stderr)
    print(f"{len(results) - len(wrong)} of {len(results)} as expected")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(run_rows(__doc__.split("\n", 1)[0], ROWS))
