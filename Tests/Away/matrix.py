"""Every pair of ways to be connected: does the parent reach the child, and over which path?

    matrix.py --child PROGRAM --parent PROGRAM [--json FILE] [ROW ...]

Needs root, nftables and coturn. A pair is as expected when picture and sound arrive, and the path is relayed only where no direct
one can be found. The child's port 8443 is forwarded for signalling; its media is not. Prints a line for each row.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import internet
from internet import CHILD_PORT, KINDS, SERVER, Internet, Side

USER, PASSWORD, REALM = "cradle", "not-a-secret-here", "cradle.test"


@dataclass(frozen=True)
class Row:
    """How both ends are connected, and the path that is expected: direct, udp, tcp or tls for a relay that is reached so, none."""

    child: str
    parent: str
    expected: str
    #: TCP ports that the parent's router lets through, and no UDP; none: everything.
    only_tcp: tuple[int, ...] = ()
    arguments: tuple[str, ...] = ()
    #: What the parent has to say where there is no path.
    says: str = ""

    @property
    def name(self) -> str:
        words = [self.child, self.parent, *(f"tcp-{port}" for port in self.only_tcp), *self.arguments[1:]]
        return "+".join(words)


def rows() -> list[Row]:
    pairs = itertools.combinations_with_replacement(KINDS, 2)
    matrix = [Row(ours, theirs, "udp" if internet.needs_relay(ours, theirs) else "direct") for ours, theirs in pairs]
    home = "port-restricted"
    return matrix + [
        Row(home, home, "tcp", only_tcp=(CHILD_PORT, 3478)),
        Row(home, home, "tls", only_tcp=(CHILD_PORT, 443)),
        Row(home, home, "udp", arguments=("--path", "relay")),
        Row("symmetric", "symmetric", "none", arguments=("--path", "direct"), says="a relay is needed"),
    ]


class Failed(Exception):
    """What did not happen."""


def make_certificates(folder: Path) -> None:
    """Of an authority of the test's own, for the server's address."""
    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "authority.key", "-out", "authority.pem", "-subj", "/CN=Test authority")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", f"/CN={SERVER}")
    (folder / "san").write_text(f"subjectAltName=IP:{SERVER}\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-days", "2",
            "-extfile", "san", "-out", "server.pem")  # fmt: skip


class Coturn:
    """On the public server, with the rules that config/coturn recommends."""

    def __init__(self, world: Internet, folder: Path):
        make_certificates(folder)
        self.log = folder / "turnserver.log"
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", world.server, "turnserver", "-n", "--no-cli", "--log-file", "stdout", "--listening-ip", SERVER,
             "--relay-ip", SERVER, "--listening-port", "3478", "--tls-listening-port", "443", "--no-dtls", "--realm", REALM,
             "--cert", str(folder / "server.pem"), "--pkey", str(folder / "server.key"), "--lt-cred-mech",
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

    def watch(self, address: str, *arguments: str, authority: Path) -> dict[str, Any]:
        """What was seen last, and what the program said.

        authority: the only one that TURN servers may have their certificates from.
        """
        command = [*self.side.prefix(), self.program, "watch", address, "--no-window", "--mute", "--stats", "--duration", "4"]
        done = subprocess.run(
            [*command, *arguments, *self.state], capture_output=True, text=True, timeout=90,
            env={**os.environ, "SSL_CERT_FILE": str(authority)})  # fmt: skip
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        seen = next((line for line in reversed(lines) if line.get("candidatePair")), lines[-1] if lines else {})
        return {"said": done.stderr[-600:], **seen}


def path(seen: dict[str, Any]) -> str:
    """As in `Row.expected`."""
    pair = seen.get("candidatePair")
    if not pair or not seen.get("framesDecoded"):
        return "none"
    if not seen["relayed"]:
        return "direct"
    # Over the child's relay, which it reaches by UDP.
    return str(pair["local"].get("relayProtocol") or "udp")


def try_row(row: Row, world: Internet, parent: Parent, authority: Path) -> dict[str, Any]:
    world.child.connect(row.child)
    world.parent.connect(row.parent)
    if row.only_tcp:
        world.parent.let_through_only(row.only_tcp)
    seen = parent.watch(f"{world.child.public}:{CHILD_PORT}", *row.arguments, authority=authority)
    came = path(seen)
    return {
        "row": row.name, "expected": row.expected, "path": came, "firstPictureMs": seen.get("timeToFirstFrameMs"),
        "isAsExpected": came == row.expected and row.says in seen["said"], "said": seen["said"],
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(row.name for row in rows()))
    options = parser.parse_args()
    chosen = [row for row in rows() if not options.rows or row.name in options.rows]
    if unknown := set(options.rows) - {row.name for row in chosen}:
        parser.error(f"no row {', '.join(sorted(unknown))}")
    results = []
    with tempfile.TemporaryDirectory(prefix="cradle-away-") as temporary, Internet() as world:
        folder = Path(temporary)
        world.child.connect("none")
        coturn = Coturn(world, folder)
        urls = [f"turn:{SERVER}:3478?transport=udp", f"turn:{SERVER}:3478?transport=tcp", f"turns:{SERVER}:443"]
        child = Child(options.child, world.child, folder, f"[{{urls: {urls}, username: {USER}, credential: {PASSWORD}}}]")
        try:
            parent = Parent(options.parent, world.parent, folder)
            parent.pair_at_home(child)
            for row in chosen:
                result = try_row(row, world, parent, folder / "authority.pem")
                results.append(result)
                first = result["firstPictureMs"]
                print(f"{'ok   ' if result['isAsExpected'] else 'WRONG'} {row.name}: {result['path']}"
                      + (f", first picture after {first:.0f} ms" if first else ""), flush=True)  # fmt: skip
                if not result["isAsExpected"]:
                    print(f"  expected {row.expected}; the parent said: {result['said']}", flush=True)
        finally:
            child.close()
            coturn.close()
        wrong = [result for result in results if not result["isAsExpected"]]
        if wrong:
            print(child.log.read_text("utf-8", "replace")[-3000:], file=sys.stderr)
    print(f"{len(results) - len(wrong)} of {len(results)} as expected")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
