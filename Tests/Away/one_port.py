"""Meeting place and relay on one port 443 of one address, behind HAProxy, with the samples in config/.

    one_port.py --child PROGRAM --parent PROGRAM --rendezvous PROGRAM

Both ends are behind port-restricted routers that forward nothing; the parent's lets out TCP 443 alone. There has to be a picture
through the relay, and the meeting place has to know where the parent is. Needs root, nftables, coturn, haproxy and curl.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from cradle.ends import AwayChild, Parent
from cradle.internet import CHILD_PORT, SERVER, Internet
from matrix import path
from cradle.meeting_servers import MEET, SECRET, TURN, Coturn, HAProxy, Rendezvous


def page(parent: Parent, authority: Path, target: str) -> str:
    """What the meeting place answers in the parent's network."""
    done = subprocess.run(
        [*parent.side.prefix(), "curl", "-s", "--max-time", "10", "--cacert", str(authority), "-w", "%{http_code} ",
         f"https://{MEET}{target}"], capture_output=True, text=True)  # fmt: skip
    return done.stdout


def problems(world: Internet, folder: Path, options: argparse.Namespace) -> list[str]:
    world.name({MEET: SERVER, TURN: SERVER})
    world.child.connect("none")
    coturn = Coturn(world, folder, is_behind_proxy=True)
    servers = f"[{{urls: ['turn:{TURN}', 'turn:{TURN}?transport=tcp', 'turns:{TURN}:443'], secret: {SECRET}}}]"
    rendezvous = Rendezvous(options.rendezvous, world, folder, servers, is_behind_proxy=True)
    proxy = HAProxy(world, folder)
    child = AwayChild(options.child, world.child, folder, meetings=f"[{rendezvous.meeting}]")
    try:
        parent = Parent(options.parent, world.parent, folder)
        parent.pair_at_home(child, f"{world.child.public}:{CHILD_PORT}")
        world.child.connect("port-restricted")
        world.parent.connect("port-restricted")
        world.parent.let_through_only((443,))
        child.wait_until_met()
        seen = parent.watch("Away")
        authority = folder / "authority.pem"
        found = {
            "the path": (path(seen), "tls"), "presence": (parent.presence, "present"),
            "/healthz": (page(parent, authority, "/healthz"), "ok\n200 "),
            # For the server's own machine alone.
            "/metrics": (page(parent, authority, "/metrics")[-4:], "404 "),
        }  # fmt: skip
        print(f"{found['the path'][0]}, first picture after {seen.get('timeToFirstFrameMs')} ms", flush=True)
        wrong = [f"{what} is {is_!r}, not {should!r}" for what, (is_, should) in found.items() if is_ != should]
        if wrong:
            logs = [log.read_text("utf-8", "replace")[-1500:] for log in (child.log, coturn.log, rendezvous.log, proxy.log)]
            print(seen.get("said"), *logs, sep="\n", file=sys.stderr)
        return wrong
    finally:
        child.close()
        for server in (proxy, rendezvous, coturn):
            server.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--rendezvous", required=True)
    with tempfile.TemporaryDirectory(prefix="cradle-away-") as temporary, Internet(is_forwarded=False) as world:
        wrong = problems(world, Path(temporary), parser.parse_args())
    print("as expected" if not wrong else "\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
