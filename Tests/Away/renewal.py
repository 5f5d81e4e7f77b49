"""Credentials that end every half minute, on a path that needs the relay: is anything lost?

    renewal.py --child PROGRAM --parent PROGRAM [--seconds 120] [--lifetime 30]

Both ends make new allocations at half their credentials' time. Prints what the parent saw; exits with 1 when a packet or the link
was lost, or no sound came in some second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from cradle.ends import AwayChild, Parent
from cradle.internet import CHILD_PORT, SERVER, Internet
from cradle.meeting_servers import SECRET, Coturn


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--lifetime", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cradle-away-") as temporary, Internet() as world:
        folder = Path(temporary)
        world.child.connect("none")
        coturn = Coturn(world, folder)
        url = f"turn:{SERVER}:3478?transport=udp"
        child = AwayChild(
            options.child, world.child, folder, f"[{{urls: ['{url}'], secret: {SECRET}, lifetime: {options.lifetime}s}}]")
        try:
            parent = Parent(options.parent, world.parent, folder)
            parent.pair_at_home(child)
            world.child.connect("symmetric")
            world.parent.connect("symmetric")
            done = subprocess.run(
                parent.watching(f"{world.child.public}:{CHILD_PORT}", "--duration", str(options.seconds)),
                capture_output=True, text=True, timeout=options.seconds + 60, env=dict(os.environ))  # fmt: skip
        finally:
            child.close()
            coturn.close()
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        ports = {line["candidatePair"][end]["port"] for line in lines if line.get("relayed") for end in ("local", "remote")
                 if line["candidatePair"][end]["type"] == "relay"}  # fmt: skip
        last = lines[-1] if lines else {}
        # Sound, because on a busy machine the picture may have to wait. The last line is of the whole session.
        silent = sum(line["audioKbps"] < 5 for line in lines[1:-1])
        print(json.dumps({
            "relayed": last.get("relayed"), "frames": last.get("framesDecoded"), "freezes": last.get("freezeCount"),
            "silentSeconds": silent, "concealedPercent": last.get("concealedPercent"), "packetsLost": last.get("packetsLost"),
            "reconnects": last.get("reconnects"), "relayedAddressesUsed": len(ports),
        }))  # fmt: skip
        lost = last.get("packetsLost", 1) > 0 or last.get("reconnects", 1) > 0 or silent > 0
        is_whole = bool(last.get("relayed")) and not lost and len(ports) > 1
        if not is_whole:
            print(done.stderr[-2000:], child.log.read_text("utf-8", "replace")[-2000:], file=sys.stderr)
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
