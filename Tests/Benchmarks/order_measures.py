"""What `bench.py` measures of pairing and orders: a parent's commands as whole processes, and orders on an open session."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from pathlib import Path

from figures import Figure, median
from measures import Bench
from servers import Child, Problem, common


def orders(bench: Bench) -> list[Figure]:
    with Child(bench.child_program) as child, tempfile.TemporaryDirectory(prefix="cradle-bench-") as folder:
        state = str(Path(folder) / "parent")

        def parent(*arguments: str) -> float:
            """Milliseconds from the start of the process to its end."""
            began = time.perf_counter()
            done = subprocess.run(
                [bench.parent_program, *arguments, "--state-directory", state], capture_output=True, text=True)
            took = (time.perf_counter() - began) * 1000
            if done.returncode != 0:
                raise Problem(f"cradle-parent {' '.join(arguments)}: {done.stderr.strip()}")
            return took

        def pair() -> float:
            window = subprocess.Popen(
                [bench.child_program, "pair", "--json", *child.directories], stdout=subprocess.PIPE, text=True)
            assert window.stdout
            code = json.loads(window.stdout.readline())["code"]
            took = parent("pair", f"127.0.0.1:{child.port}", "--code", code)
            # The child prints who paired when it has stored it.
            window.wait(10)
            return took

        runs = 3 if bench.is_quick else 15
        pairing = [pair() for _ in range(runs)]
        switching = [parent("light", "on") for _ in range(runs + 1)][1:]
        common.log(f"  pairing {median(pairing):.0f} ms, light on {median(switching):.0f} ms as a whole process")
        done = subprocess.run(
            [bench.benchmarks, "orders", "--state", state, "--count", "50" if bench.is_quick else "500"],
            capture_output=True, text=True)
        if done.returncode != 0:
            raise Problem(f"cradle-benchmarks orders: {done.stderr.strip()}")
        report = json.loads(done.stdout)
        answers, stills = report["commandMilliseconds"], report["stillMilliseconds"]
        common.log(f"  an order's answer {median(answers):.2f} ms, a still {median(stills):.0f} ms")
        size = f"{report['stillWidth']}x{report['stillHeight']}"
        return [
            Figure(
                "pairing by code, whole process, median", "ms", median(pairing), runs=pairing,
                note=f"{runs} runs, slowest {max(pairing):.0f} ms; stored on both sides",
            ).judged("< 1000 ms", lambda f: max(pairing) < 1000),
            Figure(
                "light on, whole process, median", "ms", median(switching), runs=switching,
                note=f"{runs} runs, slowest {max(switching):.0f} ms",
            ).judged("< 400 ms", lambda f: f.ours < 400),
            Figure(
                "order to answer on an open session, median", "ms", median(answers), runs=answers,
                note=f"{len(answers)} orders, slowest {max(answers):.1f} ms",
            ).judged("< 5 ms", lambda f: f.ours < 5),
            Figure(
                f"still of {size} on an open session, median", "ms", median(stills), runs=stills,
                note=f"{len(stills)} stills, slowest {max(stills):.0f} ms",
            ).judged("< 300 ms", lambda f: max(stills) < 300),
        ]  # fmt: skip
