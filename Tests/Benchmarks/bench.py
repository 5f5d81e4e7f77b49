#!/usr/bin/env python3
"""The figures of `make bench`: child and parent against GStreamer's webrtcbin, libvpx alone and aiortc, on this machine, now.

Test picture 1280x720 at 30 a second, 1.5 Mbit/s, loopback. Both sides take turns within one run; medians are shown.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, Callable

import cores
from measures import vpx_alone
from measures.attack import attacks
from measures.browser import browser_loss
from measures.event import events
from cradle.figures import Figure, table
from measures.load import load
from measures.base import Bench, first_picture, glass_to_glass, quality
from measures.night import noise
from measures.order import orders
from measures.page import page
from measures.parent import parent, parent_loss
from measures.pipe import pipe
from measures.proof import proofs
from servers import Problem
from cradle import processes
from measures.talk import mouth_to_ear

#: In the order of the table. `load` comes before what uses the encoder's speed.
MEASURES: dict[str, tuple[str, Callable[[Bench], list[Figure]]]] = {
    "load": ("processor time and memory", load),
    "first": ("from the request to the first picture", first_picture),
    "glass": ("glass to glass", glass_to_glass),
    "quality": ("picture quality", quality),
    "noise": ("picture noise at night", noise),
    "pipe": ("the pipe of a ribbon camera", pipe),
    "parent": ("the parent", parent),
    "parent-loss": ("the parent over a bad network", parent_loss),
    "browser-loss": ("a browser over a bad network", browser_loss),
    "orders": ("finding, pairing and orders", orders),
    "events": ("the event store", events),
    "proofs": ("alarm and proof of hearing", proofs),
    "talk": ("talk", mouth_to_ear),
    "page": ("the phone page", page),
    "attacks": ("while somebody attacks", attacks),
}
ORDER = ("first", "glass", "load", "quality", "noise", "pipe", "parent", "parent-loss", "browser-loss", "orders", "events", "proofs", "talk", "page", "attacks")
#: Minutes that each takes.
MINUTES = {
    "first": 1, "glass": 5, "load": 14, "quality": 1, "noise": 4, "pipe": 2, "parent": 9, "parent-loss": 8, "browser-loss": 5, "orders": 2, "events": 1, "proofs": 1, "talk": 1, "page": 5, "attacks": 5,
}  # fmt: skip


def machine() -> dict[str, Any]:
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.machine())
    vpxenc = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "vpx-tools"], capture_output=True, text=True).stdout
    gstreamer = subprocess.run(["gst-inspect-1.0", "--version"], capture_output=True, text=True).stdout.splitlines()
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "libvpx": vpxenc or "unknown",
        "gstreamer": gstreamer[0].split()[-1] if gstreamer else "unknown",
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", required=True, help="the cradle-child program")
    parser.add_argument("--parent", required=True, help="the cradle-parent program")
    parser.add_argument("--benchmarks", required=True, help="the cradle-benchmarks program")
    parser.add_argument("--quick", action="store_true", help="short windows, few runs: to see that all of it works")
    parser.add_argument("--json", metavar="FILE", help="write everything that was measured")
    parser.add_argument("--only", metavar="NAME,...", default=",".join(ORDER), help=f"of {', '.join(ORDER)}")
    options = parser.parse_args()
    wanted = options.only.split(",")
    unknown = set(wanted) - set(ORDER)
    if unknown:
        parser.error(f"--only: there is no {', '.join(sorted(unknown))}")
    here = machine()
    minutes = 2 * len(wanted) if options.quick else sum(MINUTES[name] for name in wanted)
    processes.log(f"This takes about {minutes} minutes, and counts for something on a quiet machine only.")
    began = time.monotonic()
    found: dict[str, list[Figure]] = {}
    thefts: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="cradle-bench-") as directory:
        recording = str(Path(directory) / "pictures.y4m")
        subprocess.run([options.benchmarks, "y4m", recording, "--frames", "150" if options.quick else "300"], check=True)
        bench = Bench(options.child, options.parent, options.benchmarks, vpx_alone.Recording.open(recording), options.quick)
        for name in (name for name in MEASURES if name in wanted):
            title, measure = MEASURES[name]
            processes.log(f"{title} ...")
            stolen, started = cores.stolen_seconds(), time.monotonic()
            try:
                found[name] = measure(bench)
            except (Problem, RuntimeError, OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
                # One figure less is no reason to lose the others.
                processes.log(traceback.format_exc())
                found[name] = [Figure(title, "", missing=f"{type(error).__name__}: {error}")]
            stolen = (cores.stolen_seconds() - stolen) / (time.monotonic() - started) / (os.cpu_count() or 1) * 100
            processes.log(f"  the host took {stolen:.2f} % of this machine's processor time meanwhile")
            thefts[title] = stolen
    figures = [figure for name in ORDER for figure in found.get(name, [])]
    print(f"\n{here['processor']}, {here['cores']} cores, load {here['load']:.1f} at the start; ", end="")
    print(f"libvpx {here['libvpx']}, GStreamer {here['gstreamer']}; {time.monotonic() - began:.0f} s")
    if options.quick:
        print("Quick: windows too short to hold the figures against.")
    if any(stolen >= 0.5 for stolen in thefts.values()):
        # A guest that stands still for a moment shows it in freezes and delays, whatever runs in it.
        print("Taken away by the host: " + ", ".join(f"{stolen:.1f} % during {title}" for title, stolen in thefts.items()))
    print(table(figures))
    if options.json:
        result = {
            "machine": here, "quick": options.quick, "stolen_percent": thefts,
            "figures": [figure.record() for figure in figures], "raw": bench.raw,
        }  # fmt: skip
        Path(options.json).write_text(json.dumps(result, indent=1))
    return 1 if any(figure.missing for figure in figures) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
