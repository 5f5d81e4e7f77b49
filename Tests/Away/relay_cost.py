"""What a relayed viewer costs the child in processor time, against a direct one.

    relay_cost.py --child PROGRAM --parent PROGRAM [--pairs N] [--seconds S]

The same picture at the same bit rate, in turns over the two paths. Needs root, nftables and coturn, and a machine with time to spare.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from cradle.ends import AwayChild, Parent
from cradle.internet import CHILD_PORT, SERVER, Internet
from cradle.meeting_servers import SECRET, Coturn
from watching import Watching

HOME = "port-restricted"


def processor_seconds(process: int) -> float:
    """proc(5): utime and stime."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost(child: AwayChild, parent: Parent, address: str, path: str, seconds: int) -> tuple[float, float, bool]:
    """Processor time of the child in a second, kbit/s that came, and whether a relay was on the way."""
    watching = Watching(parent, seconds + 8, address, "--path", path)
    watching.wait_for_picture()
    time.sleep(4)
    before = processor_seconds(child.process.pid)
    time.sleep(seconds)
    used = processor_seconds(child.process.pid) - before
    last = watching.lines[-1][1]
    rate = statistics.mean(line["videoKbps"] for _, line in watching.lines[-seconds:])
    watching.stop()
    return used / seconds, rate, bool(last.get("relayed"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=20)
    options = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory(prefix="cradle-away-") as temporary, Internet() as world:
        folder = Path(temporary)
        world.child.connect("none")
        coturn = Coturn(world, folder)
        child = AwayChild(options.child, world.child, folder, f"[{{urls: ['turn:{SERVER}:3478'], secret: {SECRET}}}]", away=", relay-bitrate-kbps: 2500")
        try:
            parent = Parent(options.parent, world.parent, folder)
            parent.pair_at_home(child)
            world.child.connect(HOME)
            world.parent.connect(HOME)
            address = f"{world.child.public}:{CHILD_PORT}"
            for _ in range(options.pairs):
                direct, relayed = (cost(child, parent, address, path, options.seconds) for path in ("direct", "relay"))
                if direct[2] or not relayed[2]:
                    print("the paths are not those that were asked for", file=sys.stderr)
                    return 1
                ratios.append(relayed[0] / direct[0])
                print(f"direct {direct[0] * 100:.1f} % of a processor at {direct[1]:.0f} kbit/s, relayed {relayed[0] * 100:.1f} % at "
                      f"{relayed[1]:.0f} kbit/s: {ratios[-1]:.2f}", flush=True)  # fmt: skip
        finally:
            child.close()
            coturn.close()
    print(f"relayed to direct, median of {len(ratios)}: {statistics.median(ratios):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
