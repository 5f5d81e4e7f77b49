"""What a meeting place may do to a session: nothing. Kills it, moves both ends to other networks, stops the child.

    meeting.py --child PROGRAM --parent PROGRAM --rendezvous PROGRAM [--json FILE] [ROW ...]

Both ends are behind port-restricted routers that forward nothing. Needs root, nftables and coturn. Prints a line for each row.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ends import SECRET, Child, Coturn, Parent, Rendezvous
from internet import CHILD_PORT, SERVER, Internet

HOME = "port-restricted"


class Watching:
    """`cradle-parent watch --stats`: one object a second, with the time at which it came."""

    def __init__(self, parent: Parent, seconds: int):
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            parent.watching("Away", "--duration", str(seconds)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines: list[tuple[float, dict[str, Any]]] = []
        self.said: list[tuple[float, str]] = []
        self.threads = [threading.Thread(target=self.read), threading.Thread(target=self.listen)]
        for thread in self.threads:
            thread.start()

    def read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith("{"):
                self.lines.append((time.monotonic() - self.began, json.loads(line)))

    def listen(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.said.append((time.monotonic() - self.began, line.strip()))

    def wait_for_picture(self) -> None:
        deadline = time.monotonic() + 30
        while not any(line.get("framesDecoded") for _, line in self.lines):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"no picture: {self.said}")
            time.sleep(0.05)

    def end(self) -> dict[str, Any]:
        try:
            self.process.wait(120)
        finally:
            self.process.kill()
        for thread in self.threads:
            thread.join()
        return self.lines[-1][1] if self.lines else {}

    def stop(self) -> None:
        self.process.terminate()
        self.end()

    def silent_seconds(self, since: float) -> int:
        """Seconds in which no sound came, from a moment on; the last line is of the whole session. Sound, because on a busy
        machine the picture may have to wait."""
        counted = [line for came, line in self.lines[:-1] if came > since - self.began + 0.5]
        return sum(line["audioKbps"] < 5 for line in counted)

    @property
    def is_heard(self) -> bool:
        """At the end."""
        return len(self.lines) > 1 and self.lines[-2][1]["audioKbps"] > 5


class World:
    def __init__(self, options: argparse.Namespace, folder: Path, internet: Internet):
        self.internet, self.folder = internet, folder
        internet.child.connect("none")
        self.coturn = Coturn(internet, folder)
        servers = f"[{{urls: ['turn:{SERVER}:3478?transport=udp'], secret: {SECRET}}}]"
        self.meeting = Rendezvous(options.rendezvous, internet, folder, servers)
        self.child = Child(options.child, internet.child, folder, meetings=self.meeting.meetings, away=", relay-data: 1M")
        self.parent = Parent(options.parent, internet.parent, folder)
        self.parent.pair_at_home(self.child, f"{internet.child.public}:{CHILD_PORT}")
        internet.child.connect(HOME)
        internet.parent.connect(HOME)
        self.child.wait_until_met()

    def close(self) -> None:
        self.child.close()
        self.meeting.close()
        self.coturn.close()


def killed(world: World) -> dict[str, Any]:
    """The place is gone for some seconds: nothing happens to the session, and the child comes back by itself."""
    watching = Watching(world.parent, 16)
    watching.wait_for_picture()
    at = time.monotonic()
    world.meeting.close()
    time.sleep(5)
    world.meeting.start()
    last = watching.end()
    world.child.wait_until_met()
    silent = watching.silent_seconds(at)
    return {
        "silentSeconds": silent, "reconnects": last.get("reconnects"), "freezes": last.get("freezeCount"),
        "ok": silent == 0 and watching.is_heard and last.get("reconnects") == 0,
    }  # fmt: skip


def moved(world: World, who: str) -> dict[str, Any]:
    """One end goes to another network, with another address: the same session goes on there."""
    watching = Watching(world.parent, 22)
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


def absent(world: World) -> dict[str, Any]:
    """The child's program is stopped: a parent far away is told so at once, although the child's address says nothing."""
    world.child.close()
    watching = Watching(world.parent, 6)
    watching.end()
    world.child.start()
    world.child.wait_until_met()
    told = next((came for came, line in watching.said if "the child is not there" in line), None)
    return {"toldAfterSeconds": told and round(told, 2), "ok": told is not None and told < 3, "said": watching.said}


def vanished(world: World) -> dict[str, Any]:
    """The child loses its power: the place finds out when somebody comes to meet it."""
    side = world.internet.child
    # Of a killed program the kernel would close the connection; a board without power does not.
    subprocess.run(["ip", "-n", side.routers[0], "link", "set", "wan", "down"], check=True)
    watching = Watching(world.parent, 12)
    watching.end()
    subprocess.run(["ip", "-n", side.routers[0], "link", "set", "wan", "up"], check=True)
    subprocess.run(["ip", "-n", side.routers[0], "route", "add", "default", "via", side.gateway], check=True)
    world.child.wait_until_met()
    told = next((came for came, line in watching.said if "the child is not there" in line), None)
    return {"toldAfterSeconds": told and round(told, 2), "ok": told is not None and told < 10, "said": watching.said}


def used_up(world: World) -> dict[str, Any]:
    """As much has passed through the relay as a night may cost: the picture stays away and says why, the sound goes on."""
    world.internet.child.connect("symmetric")
    world.internet.parent.connect("symmetric")
    world.child.wait_until_met()
    watching = Watching(world.parent, 90)
    watching.wait_for_picture()
    deadline = time.monotonic() + 80
    told: dict[str, Any] = {}
    while time.monotonic() < deadline and told.get("pictureReason") != "relay-data":
        time.sleep(0.5)
        told = next(iter(world.child.status().get("viewers", [])), {})
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


ROWS: dict[str, Callable[[World], dict[str, Any]]] = {
    "place-killed": killed,
    "parent-moves": lambda world: moved(world, "parent"),
    "child-moves": lambda world: moved(world, "child"),
    "child-stopped": absent,
    "child-without-power": vanished,
    "relay-data-used": used_up,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--rendezvous", required=True)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    options = parser.parse_args()
    if unknown := set(options.rows) - set(ROWS):
        parser.error(f"no row {', '.join(sorted(unknown))}")
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="cradle-away-") as temporary, Internet(is_forwarded=False) as internet:
        world = World(options, Path(temporary), internet)
        try:
            for name in options.rows or ROWS:
                result = ROWS[name](world)
                results[name] = result
                said = result.pop("said", None)
                print(f"{'ok   ' if result['ok'] else 'WRONG'} {name}: {json.dumps(result)}", flush=True)
                if not result["ok"] and said:
                    print(f"  the parent said: {said}", flush=True)
        finally:
            world.close()
        wrong = [name for name, result in results.items() if not result["ok"]]
        if wrong:
            for log in (world.child.log, world.meeting.log):
                print(log.read_text("utf-8", "replace")[-3000:], file=sys.stderr)
    print(f"{len(results) - len(wrong)} of {len(results)} as expected")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
