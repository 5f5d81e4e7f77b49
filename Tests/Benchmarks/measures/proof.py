"""What `bench.py` measures of the alarm's core and of the chirp's detector."""

from __future__ import annotations

import json
import subprocess

from cradle.figures import Figure
from measures.base import Bench
from servers import Problem


def proofs(bench: Bench) -> list[Figure]:
    done = subprocess.run(
        [bench.benchmarks, "proofs", "--rooms", "1000" if bench.is_quick else "10000"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Problem(f"cradle-benchmarks proofs: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    return [
        Figure("the alarm's core", "% of a core", report["alarmPercent"], note="one child, 30 pictures a second")
        .judged("< 0.1 %", lambda f: f.ours < 0.1),
        Figure("chirps that are found", f"of {report['chirps']}", report["found"], note="4 dB below pink noise, in a room that echoes")
        .judged("at least 99 %", lambda f: f.ours >= 0.99 * report["chirps"]),
        Figure("chirps that were none", f"of {report['rooms']}", report["foundFalsely"], note="noise, crying and clatter in numbers, 1.5 s each")
        .judged("0", lambda f: f.ours == 0),
        Figure("the chirp's detector, while it listens", "% of a core", report["detectorPercent"]),
    ]  # fmt: skip
