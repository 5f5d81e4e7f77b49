"""Every pair of ways to be connected: does the parent reach the child, and over which path?

    matrix.py --child PROGRAM --parent PROGRAM [--pair CHILD-KIND,PARENT-KIND]... [--json FILE]

Needs root, nftables and coturn. A pair is as expected when picture and sound arrive, and the path is relayed only where no direct
one can be found. The child's port 8443 is forwarded for signalling; its media is not.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import internet
from internet import CHILD_PORT, KINDS, SERVER, Internet, Side

USER, PASSWORD, REALM = "cradle", "not-a-secret-here", "cradle.test"


class Failed(Exception):
    """What did not happen."""


class Coturn:
    """On the public server, with the rules that config/coturn recommends."""

    def __init__(self, world: Internet, folder: Path):
        self.log = folder / "turnserver.log"
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", world.server, "turnserver", "-n", "--no-cli", "--log-file", "stdout", "--listening-ip", SERVER,
             "--relay-ip", SERVER, "--listening-port", "3478", "--no-tls", "--no-dtls", "--lt-cred-mech", "--realm", REALM,
             "--user", f"{USER}:{PASSWORD}", "--pidfile", str(folder / "turnserver.pid"), "--no-multicast-peers",
             "--denied-peer-ip=10.0.0.0-10.255.255.255", "--denied-peer-ip=172.16.0.0-172.31.255.255",
             "--denied-peer-ip=192.168.0.0-192.168.255.255", "--denied-peer-ip=100.64.0.0-100.127.255.255"],
            stdout=self.log.open("wb"), stderr=subprocess.STDOUT)  # fmt: skip
        deadline = time.monotonic() + 10
        while b"Total General servers" not in self.log.read_bytes():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"coturn does not start: {self.log.read_text('utf-8', 'replace')[-500:]}")
            time.sleep(0.1)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(5)


class Child:
    """With a test picture and tone, on its side of the Internet."""

    def __init__(self, program: str, side: Side, folder: Path, servers: str):
        self.program, self.side, self.folder = program, side, folder
        configuration = folder / "child.yaml"
        configuration.write_text(
            f"name: Away\nlisten: 0.0.0.0:{CHILD_PORT}\ncameras: [{{id: cot, device: test, width: 320, height: 240}}]\n"
            f"microphone: {{device: test}}\nspeaker: {{device: \"null\"}}\nlights: []\nice-servers: {servers}\n")
        self.directories = ["--state-directory", str(folder / "state"), "--runtime-directory", str(folder / "run")]
        self.log = folder / "child.log"
        self.process = subprocess.Popen(
            [*side.prefix(), program, "run", "--config", str(configuration), *self.directories],
            stdout=subprocess.DEVNULL, stderr=self.log.open("wb"))  # fmt: skip
        self.wait()

    def wait(self) -> None:
        deadline = time.monotonic() + 20
        while subprocess.run([self.program, "status", *self.directories[2:]], capture_output=True).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"the child does not start: {self.log.read_text('utf-8', 'replace')[-800:]}")
            time.sleep(0.1)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(10)


class Parent:
    def __init__(self, program: str, side: Side, folder: Path):
        self.program, self.side = program, side
        self.state = ["--state-directory", str(folder / "parent")]

    def pair_at_home(self, child: Child) -> None:
        """In the child's network; there the child tells how it is reached from elsewhere."""
        window = subprocess.Popen(
            [child.program, "pair", "--json", *child.directories[2:]], stdout=subprocess.PIPE, text=True)
        assert window.stdout
        code = json.loads(window.stdout.readline())["code"]
        home = child.side.prefix()
        address = f"127.0.0.1:{CHILD_PORT}"
        self.run(home, "pair", address, "--code", code)
        window.wait(10)
        self.run(home, "status", "--child", address)

    def run(self, prefix: list[str], *arguments: str) -> None:
        done = subprocess.run([*prefix, self.program, *arguments, *self.state], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise Failed(f"cradle-parent {' '.join(arguments)}: {done.stderr.strip()}")

    def watch(self, address: str, seconds: int = 4) -> dict[str, Any]:
        """What was seen last, and what the program said."""
        command = [*self.side.prefix(), self.program, "watch", address, "--no-window", "--mute", "--stats", "--duration", str(seconds)]
        done = subprocess.run([*command, *self.state], capture_output=True, text=True, timeout=90)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        seen = next((line for line in reversed(lines) if line.get("candidatePair")), lines[-1] if lines else {})
        return {"said": done.stderr[-600:], **seen}


def path(seen: dict[str, Any]) -> str:
    """direct, relayed, or nothing."""
    pair = str(seen.get("candidatePair") or "")
    if not pair or not seen.get("framesDecoded"):
        return "none"
    return "relayed" if "relay" in pair else "direct"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--pair", action="append", metavar="CHILD,PARENT", help="kinds: " + ", ".join(KINDS))
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    pairs = [tuple(p.split(",")) for p in options.pair or []] or list(itertools.combinations_with_replacement(KINDS, 2))
    servers = (
        f"[{{urls: ['turn:{SERVER}:3478?transport=udp', 'turn:{SERVER}:3478?transport=tcp'], username: {USER}, credential: {PASSWORD}}}]"
    )
    results, wrong = [], 0
    with tempfile.TemporaryDirectory(prefix="cradle-away-") as temporary, Internet() as world:
        folder = Path(temporary)
        world.child.connect("none")
        coturn = Coturn(world, folder)
        child = Child(options.child, world.child, folder, servers)
        try:
            parent = Parent(options.parent, world.parent, folder)
            parent.pair_at_home(child)
            for ours, theirs in pairs:
                world.child.connect(ours)
                world.parent.connect(theirs)
                expected = "relayed" if internet.needs_relay(ours, theirs) else "direct"
                seen = parent.watch(f"{world.child.public}:{CHILD_PORT}")
                came = path(seen)
                wrong += came != expected
                first = seen.get("timeToFirstFrameMs")
                print(f"{'ok  ' if came == expected else 'WRONG'} child {ours}, parent {theirs}: {came}, expected {expected};"
                      f" first picture {first} ms; {seen.get('candidatePair')}", flush=True)
                if came != expected:
                    print(f"  the parent said: {seen['said']}", flush=True)
                results.append({"child": ours, "parent": theirs, "expected": expected, "path": came, "firstPictureMs": first})
        finally:
            child.close()
            coturn.close()
            if wrong:
                print(child.log.read_text("utf-8", "replace")[-3000:], file=sys.stderr)
    print(f"{len(results) - wrong} of {len(results)} as expected")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
