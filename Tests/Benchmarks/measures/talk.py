"""What `bench.py` measures of talk: from the parent's mouth to the ear at the child's speaker.

The test microphone sounds 2 kHz in place of 1 kHz at each full second of the wall clock. The child's speaker is a file
that takes 10 ms each 10 ms, as a sound card does, so what is written when is what is heard when. A card's own buffer
comes on top.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from cradle.figures import Figure, median
from measures.base import Bench
from paired_parent import PairedParent
from servers import MeasuredChild, Problem
from cradle import processes

RATE = 48_000
WAV_HEADER = 44
BYTES_PER_SAMPLE = 2
#: What the mark is looked for in: whole turns of both tones.
WINDOW = RATE // 200
STEP = RATE // 1000


def mouth_to_ear(bench: Bench) -> list[Figure]:
    seconds = 6 if bench.is_quick else 30
    with tempfile.TemporaryDirectory(prefix="cradle-bench-") as folder:
        ear = Path(folder) / "ear.wav"
        with MeasuredChild(bench.child_program, speaker=f"file:{ear}") as child:
            parent = PairedParent(bench.parent_program, folder)
            parent.pair(child)
            command = parent.command("talk", "--microphone", "test", "--duration", str(seconds))
            talk = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            written = _listen(ear, talk)
            if talk.returncode != 0:
                raise Problem(f"cradle-parent talk: {talk.stderr.read().strip() if talk.stderr else ''}")
        delays = _delays(ear, written)
    # The first second has what came before the channel was open.
    delays = delays[1:]
    if len(delays) < seconds / 2:
        raise Problem(f"{len(delays)} of {seconds} marks were heard")
    processes.log(f"  mouth to ear {median(delays):.0f} ms, slowest {max(delays):.0f} ms")
    return [
        Figure(
            "talk: mouth to ear, median", "ms", median(delays), runs=delays,
            note=f"{len(delays)} marked sounds, slowest {max(delays):.0f} ms; without the sound cards' own buffers",
        ).judged("< 150 ms", lambda f: f.ours < 150)
    ]  # fmt: skip


def _listen(ear: Path, talk: subprocess.Popen[str]) -> list[tuple[float, int]]:
    """Until the talk is over: the wall clock, and how many samples had been written then."""
    written = [(time.time(), _samples(ear))]
    while talk.poll() is None:
        count = _samples(ear)
        if count != written[-1][1]:
            written.append((time.time(), count))
        time.sleep(0.0005)
    return written


def _samples(ear: Path) -> int:
    try:
        return max(0, ear.stat().st_size - WAV_HEADER) // BYTES_PER_SAMPLE
    except FileNotFoundError:
        return 0


def _delays(ear: Path, written: list[tuple[float, int]]) -> list[float]:
    """Milliseconds from each full second to its mark at the ear."""
    import numpy

    samples = numpy.frombuffer(ear.read_bytes()[WAV_HEADER:], numpy.int16).astype(float)
    turn = 2j * numpy.pi * numpy.arange(WINDOW) / RATE
    tone, mark = numpy.exp(-1000 * turn), numpy.exp(-2000 * turn)
    delays: list[float] = []
    is_marked = True  # one that has begun already is not counted
    for start in range(written[0][1], len(samples) - WINDOW, STEP):
        heard = samples[start : start + WINDOW]
        strengths = abs(heard @ tone), abs(heard @ mark)
        if max(strengths) < 50 * WINDOW:
            continue
        was_marked, is_marked = is_marked, bool(strengths[1] > strengths[0])
        if is_marked and not was_marked:
            # Half of the window is the mark by now.
            onset = start + WINDOW // 2
            block = next(((at, before[1]) for before, (at, count) in zip(written, written[1:]) if count > onset), None)
            if block:
                heard_at = block[0] + (onset - block[1]) / RATE
                delays.append(heard_at % 1 * 1000)
    return delays
