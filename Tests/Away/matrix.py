"""Every pair of ways to be connected: does the parent reach the child, and over which path?

    matrix.py --child PROGRAM --parent PROGRAM [--rendezvous PROGRAM [--ipv6]] [--round-trip MS] [--times N] [--json FILE] [ROW ...]

Needs root, nftables and coturn. A pair is as expected when picture and sound arrive, and the path is relayed only where no direct
one can be found. With --rendezvous no router forwards anything: both meet there, and it lends them the relay. Without, the child's
port 8443 is forwarded for signalling; its media is not. With --ipv6 the servers have both families, and some ends IPv6 alone.
Prints a line for each row.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cradle import internet
from cradle.ends import AwayChild, Parent
from cradle.internet import CHILD_PORT, KINDS, MEETING, MEETING6, SERVER, SERVER6, Internet
from cradle.meeting_servers import MEET, SECRET, TURN, Coturn, Rendezvous

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
        ports = (port for port in self.only_tcp if port != CHILD_PORT)
        words = [self.child, self.parent, *(f"tcp-{port}" for port in ports), *self.arguments[1:]]
        return "+".join(words)


def rows() -> list[Row]:
    pairs = itertools.combinations_with_replacement(KINDS, 2)
    matrix = [Row(ours, theirs, "udp" if internet.needs_relay(ours, theirs) else "direct") for ours, theirs in pairs]
    home = "port-restricted"
    return matrix + [
        # 443: the rendezvous.
        Row(home, home, "tcp", only_tcp=(CHILD_PORT, 443, 3478)),
        Row(home, home, "tls", only_tcp=(CHILD_PORT, 443)),
        Row(home, home, "udp", arguments=("--path", "relay")),
        Row("symmetric", "symmetric", "none", arguments=("--path", "direct"), says="a relay is needed"),
    ]


def ipv6_rows() -> list[Row]:
    return [
        Row("ipv6-only", "dual-stack", "direct"),
        Row("dual-stack", "ipv6-only", "direct"),
        Row("ipv6-only", "ipv6-only", "direct"),
        Row("ipv6-only", "none", "udp"),
        Row("ipv6-only", "symmetric", "udp"),
        Row("port-restricted", "ipv6-only", "udp"),
        Row("ipv6-only", "ipv6-only", "udp", arguments=("--path", "relay")),
    ]


def path(seen: dict[str, Any]) -> str:
    """As in `Row.expected`."""
    pair = seen.get("candidatePair")
    if not pair or not seen.get("framesDecoded"):
        return "none"
    if not seen["relayed"]:
        return "direct"
    # Over the child's relay, which it reaches by UDP.
    return str(pair["local"].get("relayProtocol") or "udp")


def try_row(row: Row, world: Internet, child: AwayChild, parent: Parent) -> dict[str, Any]:
    world.child.connect(row.child)
    world.parent.connect(row.parent)
    if row.only_tcp:
        world.parent.let_through_only(row.only_tcp)

    def is_found(seen: dict[str, Any]) -> bool:
        """A direct path stays. A relayed one may still be left for a direct one."""
        return row.expected == "direct" and path(seen) == "direct"

    if world.is_forwarded:
        seen = parent.watch(f"{world.child.public}:{CHILD_PORT}", *row.arguments, until=is_found)
    else:
        # A child that has moved finds out after seconds only that the connection by which it is there has not survived it.
        for _ in range(3):
            child.wait_until_met()
            seen = parent.watch("Away", *row.arguments, until=is_found)
            if "the child is not there" not in seen["said"]:
                break
            print(f"again {row.name}: the child was not there yet", flush=True)
    came = path(seen)
    return {
        "row": row.name, "expected": row.expected, "path": came, "firstPictureMs": seen.get("timeToFirstFrameMs"),
        "isAsExpected": came == row.expected and row.says in seen["said"], "said": seen["said"],
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--rendezvous")
    parser.add_argument("--ipv6", action="store_true", help="the rows with IPv6 instead")
    parser.add_argument("--round-trip", type=float, default=0, metavar="MS", help="between the parent's router and everybody else")
    parser.add_argument("--times", type=int, default=1, metavar="N", help="how often each row is tried")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(row.name for row in rows() + ipv6_rows()))
    options = parser.parse_args()
    if options.ipv6 and not options.rendezvous:
        parser.error("--ipv6 needs --rendezvous")
    chosen = [row for row in (ipv6_rows() if options.ipv6 else rows()) if not options.rows or row.name in options.rows]
    if unknown := set(options.rows) - {row.name for row in chosen}:
        parser.error(f"no row {', '.join(sorted(unknown))}")
    results = []
    is_forwarded = options.rendezvous is None
    with tempfile.TemporaryDirectory(prefix="cradle-away-") as temporary, Internet(is_forwarded, {"parent": options.round_trip / 2}) as world:
        folder = Path(temporary)
        world.child.connect("none")
        # An address of both families takes the port at all of them.
        tls_port, server = (5349, TURN) if options.ipv6 else (443, SERVER)
        if options.ipv6:
            world.name({TURN: (SERVER, SERVER6), MEET: (MEETING, MEETING6)})
        coturn = Coturn(world, folder, tls_port=tls_port)
        urls = [f"turn:{server}:3478?transport=udp", f"turn:{server}:3478?transport=tcp", f"turns:{server}:{tls_port}"]
        servers = f"[{{urls: {urls}, secret: {SECRET}}}]"
        meeting = None if is_forwarded else Rendezvous(options.rendezvous, world, folder, servers, is_everywhere=options.ipv6)
        child = (
            AwayChild(options.child, world.child, folder, meetings=f"[{meeting.meeting}]")
            if meeting
            else AwayChild(options.child, world.child, folder, servers)
        )
        try:
            parent = Parent(options.parent, world.parent, folder)
            # With its public address it is known to the parent; from elsewhere nothing answers there.
            parent.pair_at_home(child, *([f"{world.child.public}:{CHILD_PORT}"] if meeting else []))
            for row in [row for row in chosen for _ in range(options.times)]:
                result = try_row(row, world, child, parent)
                results.append(result)
                first = result["firstPictureMs"]
                print(f"{'ok   ' if result['isAsExpected'] else 'WRONG'} {row.name}: {result['path']}"
                      + (f", first picture after {first:.0f} ms" if first else ""), flush=True)  # fmt: skip
                if not result["isAsExpected"]:
                    print(f"  expected {row.expected}; the parent said: {result['said']}", flush=True)
        finally:
            child.close()
            coturn.close()
            if meeting:
                meeting.close()
        wrong = [result for result in results if not result["isAsExpected"]]
        if wrong:
            print(child.log.read_text("utf-8", "replace")[-3000:], file=sys.stderr)
    print(f"{len(results) - len(wrong)} of {len(results)} as expected")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
