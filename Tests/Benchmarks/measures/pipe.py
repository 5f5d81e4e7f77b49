"""What `bench.py` measures of cameras that are programs: what the pipe of `rpicam:0` adds."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from cradle.figures import Figure
from measures.base import Bench
from measures.parent import Seen
from servers import PROGRAMS, MeasuredChild, Parent
from cradle import processes


def pipe(bench: Bench) -> list[Figure]:
    """Glass to glass of the same pictures, written to a pipe and drawn by the child itself. Both are stamped when they are
    ready; what differs is the way into the encoder."""
    programs = Path(processes.temporary_directory("rpicam"))
    camera = programs / "rpicam-vid"
    arguments = [sys.executable, str(PROGRAMS / "stamped_camera.py"), "--pictures", bench.recording.path]
    camera.write_text(f'#!/bin/sh\nexec {shlex.join(arguments)} "$@"\n')
    camera.chmod(0o755)
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
    seen: dict[str, list[Seen]] = {"rpicam:0": [], "test": []}
    for turn in range(bench.rounds):
        for device in seen:
            with MeasuredChild(bench.child_program, camera=device) as child, Parent(bench.parent_program, child, bench.window) as viewer:
                seen[device].append(Seen.ours(viewer.figures()))
            processes.log(f"  {device}, turn {turn + 1}: {seen[device][-1]}")
    ours, drawn = (sorted(run.p50 for run in seen[device] if run.p50 is not None) for device in seen)
    if not ours or not drawn:
        return [Figure("what the pipe of a ribbon camera adds", "ms", missing="no timecode was seen")]
    bench.raw["pipe"] = {device: [vars(run) for run in runs] for device, runs in seen.items()}
    return [
        Figure(
            "glass to glass, picture through the pipe of rpicam-vid", "ms", ours[len(ours) // 2], drawn[len(drawn) // 2],
            "drawn by the child", "difference").judged("< +5 ms", lambda f: f.comparison < 5)
    ]  # fmt: skip
