"""A child for arm64 in QEMU's user emulation, watched by this machine's own parent, and the other way round. Prints what
was seen; exit status 0 if picture and sound came through both times. Standard library only."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cradle.child import Child

FRAMERATE = 10
CONFIGURATION = f"""name: Emulated
cameras:
  - {{id: cot, device: test, width: 320, height: 240, framerate: {FRAMERATE}}}
microphone: {{device: test}}
speaker: {{device: none}}
"""


def expect(condition: bool, text: str) -> None:
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def watch(parent: list[str], child: Child, seconds: int) -> dict[str, Any]:
    """The last row of `watch --stats`; the snapshot and the recording are there."""
    folder = child.folder
    files = {name: folder / f"seen.{name}" for name in ["jpg", "webm"]}
    result = subprocess.run(
        [*parent, "watch", "--whep", child.whep, "--token", child.add_token("viewer")]
        + ["--speaker", "null", "--stats", "--duration", str(seconds)]
        + ["--snapshot", str(files["jpg"]), "--record", str(files["webm"]), "--state-directory", str(folder / "parent")],
        capture_output=True,
        text=True,
        timeout=seconds + 120,
    )
    expect(result.returncode == 0, f"the parent ended with {result.returncode}:\n{result.stderr[-2000:]}\n{child.words()}")
    rows = [json.loads(line) for line in result.stdout.splitlines() if line.strip()]
    seen: dict[str, Any] = rows[-1]
    seen["levels"] = [row["audioLevelDb"] for row in rows if row["audioLevelDb"] is not None]
    expect(files["jpg"].read_bytes()[:2] == b"\xff\xd8", "the snapshot is no JPEG")
    expect(files["webm"].read_bytes()[:4] == b"\x1a\x45\xdf\xa3", "the recording is no WebM")
    print(
        f"  {seen['framesDecoded']} pictures of {seen['width']}x{seen['height']} in {seconds} s, first after"
        f" {seen['timeToFirstFrameMs']} ms, {seen['freezeCount']} freezes, {seen['packetsLost']} packets lost,"
        f" sound {max(seen['levels'], default=None)} dB, recording {files['webm'].stat().st_size / 1e3:.0f} kB",
        flush=True,
    )
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--emulator", required=True, help="the command that runs a program for arm64")
    parser.add_argument("--emulated", type=Path, required=True, help="the folder with the programs for arm64")
    parser.add_argument("--native", type=Path, required=True, help="the folder with this machine's programs")
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()

    def emulated(name: str) -> list[str]:
        return [*shlex.split(options.emulator), str(options.emulated.resolve() / name)]

    def native(name: str) -> list[str]:
        return [str(options.native.resolve() / name)]

    with tempfile.TemporaryDirectory(prefix="cradle-arm64-") as name:
        # Nothing of the person who runs this.
        os.environ.update(HOME=name, XDG_STATE_HOME=f"{name}/state")
        for said, child, parent in [
            ("emulated child, native parent", emulated("cradle-child"), native("cradle-parent")),
            ("native child, emulated parent", native("cradle-child"), emulated("cradle-parent")),
        ]:
            print(f"{said}:", flush=True)
            folder = Path(name) / said.split()[0]
            folder.mkdir()
            with Child(child, CONFIGURATION, folder, patience=120) as running:
                seen = watch(parent, running, options.seconds)
                status = running.end()
                expect(status == 0, f"the child ended with {status}:\n{running.words()}")
            # The first picture takes a moment to come.
            least = FRAMERATE * (options.seconds - 3)
            expect((seen["width"], seen["height"]) == (320, 240), f"{seen['width']}x{seen['height']}")
            expect(seen["framesDecoded"] >= least, f"only {seen['framesDecoded']} pictures, expected {least}")
            expect(seen["freezeCount"] == 0, f"{seen['freezeCount']} freezes")
            expect(bool(seen["levels"]) and -26 < max(seen["levels"]) < -12, f"the tone has {seen['levels']} dB")


if __name__ == "__main__":
    sys.exit(main())
