"""At home no server that helps away from home is asked anything.

    home.py --child PROGRAM --parent PROGRAM --rendezvous PROGRAM

Child and parent on one cable, each with a router to the Internet beside it; the parent knows the child's STUN and TURN servers and its
meeting place. While it watches, what goes to the servers is counted: nothing but the child's connection to the place, over TCP, and
without a meeting place nothing at all. (Each tries the other's second address, too; that is counted nowhere.) Needs root, nftables and coturn.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cradle.ends import AwayChild, Parent
from cradle.internet import CHILD_PORT, SERVER, Internet, Side, join, run
from cradle.meeting_servers import SECRET, Coturn, Rendezvous

HOME = "port-restricted"
COUNTER = """
table ip counted {
  counter sent_udp { }
  counter sent_tcp { }
  chain forward {
    type filter hook forward priority -5;
    oif wan ip daddr 192.0.2.0/24 meta l4proto udp counter name "sent_udp"
    oif wan ip daddr 192.0.2.0/24 meta l4proto tcp counter name "sent_tcp"
  }
}
"""


def counted(side: Side, protocol: str) -> int:
    done = subprocess.run(
        ["ip", "netns", "exec", side.routers[0], "nft", "list", "counter", "ip", "counted", f"sent_{protocol}"], capture_output=True, text=True, check=True)
    found = re.search(r"packets (\d+)", done.stdout)
    assert found
    return int(found[1])


def problems(world: Internet, folder: Path, options: argparse.Namespace, meets: bool) -> list[str]:
    world.child.connect("none")
    coturn = Coturn(world, folder)
    servers = f"[{{urls: ['stun:{SERVER}', 'turn:{SERVER}:3478'], secret: {SECRET}}}]"
    place = Rendezvous(options.rendezvous, world, folder, servers) if meets else None
    child = AwayChild(options.child, world.child, folder, servers, f"[{place.meeting}]" if place else "[]")
    try:
        parent = Parent(options.parent, world.parent, folder)
        parent.pair_at_home(child, f"{world.child.public}:{CHILD_PORT}")
        for side in (world.child, world.parent):
            side.connect(HOME)
            run("ip", "netns", "exec", side.routers[0], "nft", "-f", "-", text=COUNTER)
        join(world.child.host, "lan", "10.9.0.1/24", world.parent.host, "wlan", "10.9.0.2/24")
        if place:
            child.wait_until_met()
        time.sleep(1)
        before = {side.name: [counted(side, protocol) for protocol in ("udp", "tcp")] for side in (world.child, world.parent)}
        seen = parent.watch(f"10.9.0.1:{CHILD_PORT}", "--duration", "5")
        after = {side.name: [counted(side, protocol) for protocol in ("udp", "tcp")] for side in (world.child, world.parent)}
        sent = {name: [b - a for a, b in zip(before[name], after[name])] for name in before}
        print(f"{'with' if meets else 'without'} a meeting place: UDP and TCP packets of the child {sent['child']}, of the parent {sent['parent']}; "
              f"first picture after {seen.get('timeToFirstFrameMs')} ms", flush=True)  # fmt: skip
        wrong = []
        if not seen.get("framesDecoded") or seen.get("relayed"):
            wrong.append(f"no direct picture: {seen.get('said')}")
        if sent["parent"] != [0, 0] or sent["child"][0] != 0 or (not meets and sent["child"][1] != 0):
            wrong.append(f"servers have been asked at home: {sent}")
        return wrong
    finally:
        child.close()
        if place:
            place.close()
        coturn.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--rendezvous", required=True)
    options = parser.parse_args()
    wrong = []
    for meets in (False, True):
        with tempfile.TemporaryDirectory(prefix="cradle-away-") as temporary, Internet(is_forwarded=False) as world:
            wrong += problems(world, Path(temporary), options, meets)
    print("as expected" if not wrong else "\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
