#!/usr/bin/env python3
"""libvpx by itself: `vpxenc` on a recording of the test pictures, set up as the child's encoder is, with one layer, and
`vpxdec` on what a parent recorded.

Processor time is that of the program (wait4) less what it takes to read the pictures and do nothing else. With `--paced`
the pictures come through a pipe at their rate, as from a camera: caches and sleeping cores make encoding dearer then than
in one go, and the child lives under the same rule.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import cores
from measures import webm_to_ivf

#: The same as VP8RateControl in Sources/Media/Codecs/VP8EncoderConfiguration.swift, and one pass without lookahead.
SETTINGS = (
    "--codec=vp8 --rt --passes=1 --lag-in-frames=0 --end-usage=cbr --resize-allowed=0 --error-resilient=0 "
    "--min-q=4 --max-q=63 --undershoot-pct=100 --overshoot-pct=50 --drop-frame=10 "
    "--buf-sz=600 --buf-initial-sz=300 --buf-optimal-sz=400 --max-intra-rate=600 --disable-kf "
    "--static-thresh=200 --token-parts=0 --noise-sensitivity=0 --auto-alt-ref=0 --screen-content-mode=0 "
    "--disable-warning-prompt --quiet --ivf"
).split()


@dataclass
class Recording:
    """A Y4M file."""

    path: str
    width: int
    height: int
    frame_rate: int
    frames: int
    header_bytes: int

    @classmethod
    def open(cls, path: str) -> "Recording":
        with open(path, "rb") as file:
            line = file.readline()
        fields = {field[0]: field[1:] for field in line.decode("ascii").split()[1:]}
        width, height = int(fields["W"]), int(fields["H"])
        over, under = fields["F"].split(":")
        each = width * height * 3 // 2 + len("FRAME\n")
        frames = (os.path.getsize(path) - len(line)) // each
        return cls(path, width, height, int(over) // int(under), frames, len(line))

    @property
    def frame_bytes(self) -> int:
        return self.width * self.height * 3 // 2 + len("FRAME\n")


def run(command: list[str], feed: Callable[[Any], None] | None) -> tuple[float, str]:
    """Runs a program, with `feed` writing to its standard input; processor time in seconds, and its standard error."""
    paced = feed is not None
    with tempfile.TemporaryFile() as errors:
        program = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if paced else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            pipesize=1 << 20 if paced else -1,
        )
        if paced:
            threading.Thread(target=_feed, args=(program.stdin, feed), daemon=True).start()
        _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode("utf-8", "replace")
    if program.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with {program.returncode}: {text[-500:]}")
    return used.ru_utime + used.ru_stime, text


def _feed(pipe: Any, feed: Callable[[Any], None]) -> None:
    try:
        with cores.watching():
            feed(pipe)
            pipe.close()
    except BrokenPipeError:
        pass


def _feed_recording(pipe: Any, recording: Recording) -> None:
    started = time.monotonic()
    with open(recording.path, "rb") as file:
        pipe.write(file.read(recording.header_bytes))
        for number in range(recording.frames):
            time.sleep(max(0.0, started + number / recording.frame_rate - time.monotonic()))
            pipe.write(file.read(recording.frame_bytes))
            pipe.flush()


def feeder(recording: Recording) -> Callable[[Any], None]:
    return lambda pipe: _feed_recording(pipe, recording)


def decode(webm: Path, paced: bool) -> float:
    """Milliseconds of processor time a picture that `vpxdec` needs for the VP8 frames of a recording, on one thread."""
    frames = webm_to_ivf.vp8_frames(webm.read_bytes())
    if not frames:
        raise RuntimeError(f"{webm} holds no VP8")
    header = webm_to_ivf.ivf_header(*webm_to_ivf.picture_size(frames[0]), len(frames))

    def feed(pipe: Any) -> None:
        pipe.write(header)
        started = time.monotonic()
        for number, frame in enumerate(frames):
            if paced:
                pipe.flush()
                time.sleep(max(0.0, started + number / webm_to_ivf.FRAME_RATE - time.monotonic()))
            pipe.write(webm_to_ivf.ivf_frame(number, frame))

    seconds, _ = run(["vpxdec", "--codec=vp8", "--noblit", "--threads=1", "-"], feed)
    return seconds * 1000 / len(frames)


def encode(recording: Recording, speed: int, kbps: int, paced: bool = False, threads: int = 1) -> dict[str, float]:
    """One run: milliseconds of processor time a picture, and kbit/s and luma PSNR (mean of the pictures) of the result."""
    with tempfile.NamedTemporaryFile(suffix=".ivf") as output:
        command = ["vpxenc", *SETTINGS, f"--cpu-used={speed}", f"--target-bitrate={kbps}", f"--threads={threads}"]
        source = "-" if paced else recording.path
        # Measuring PSNR costs time of its own.
        seconds, _ = run(command + ["-o", output.name, source], feeder(recording) if paced else None)
        size = os.path.getsize(output.name)
    # IVF: 32 bytes at the start and 12 before each frame.
    bits = 8 * (size - 32 - 12 * recording.frames)
    return {
        "cpuMsPerFrame": (seconds - reading(recording, paced)) * 1000 / recording.frames,
        "kbps": bits / 1000 * recording.frame_rate / recording.frames,
    }


def reading(recording: Recording, paced: bool) -> float:
    """Seconds of processor time to start the program and to read the pictures: all are skipped but the last."""
    command = ["vpxenc", *SETTINGS, "--cpu-used=-16", f"--skip={recording.frames - 1}", "--limit=1", "-o", os.devnull]
    return run(command + ["-" if paced else recording.path], feeder(recording) if paced else None)[0]


def luma_psnr(recording: Recording, speed: int, kbps: int) -> dict[str, float]:
    """kbit/s that came out and the mean of the pictures' luma PSNR in decibels."""
    with tempfile.NamedTemporaryFile(suffix=".ivf") as output:
        command = ["vpxenc", *SETTINGS, f"--cpu-used={speed}", f"--target-bitrate={kbps}", "--threads=1", "--psnr"]
        _, text = run(command + ["-o", output.name, recording.path], None)
        size = os.path.getsize(output.name)
    found = re.search(r"PSNR \(Overall/Avg/Y/U/V\)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", text)
    if found is None:
        raise RuntimeError(f"vpxenc said no PSNR: {text[-300:]}")
    bits = 8 * (size - 32 - 12 * recording.frames)
    return {"kbps": bits / 1000 * recording.frame_rate / recording.frames, "lumaPSNR": float(found.group(3))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("y4m", type=Path)
    parser.add_argument("--speed", type=int, default=-8, help="libvpx's cpu-used; write --speed=-8")
    parser.add_argument("--bitrate", type=int, default=1500, help="kbit/s")
    parser.add_argument("--paced", action="store_true", help="feed the pictures at their rate")
    options = parser.parse_args()
    recording = Recording.open(str(options.y4m))
    result = encode(recording, options.speed, options.bitrate, options.paced)
    print(json.dumps(result | {"quality": luma_psnr(recording, options.speed, options.bitrate)}))


if __name__ == "__main__":
    main()
