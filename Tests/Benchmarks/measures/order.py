"""What `bench.py` measures of finding, pairing and orders: a parent's commands as whole processes, and an open session."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time

from cradle.figures import Figure, median
from network.house import HouseNetwork
from measures.base import Bench
from paired_parent import PairedParent
from servers import MeasuredChild, Problem
from cradle import processes


def orders(bench: Bench) -> list[Figure]:
    return _commands(bench) + _discovery(bench)


def _commands(bench: Bench) -> list[Figure]:
    with MeasuredChild(bench.child_program) as child, tempfile.TemporaryDirectory(prefix="cradle-bench-") as folder:
        parent = PairedParent(bench.parent_program, folder)
        runs = 3 if bench.is_quick else 15
        pairing = [parent.pair(child) for _ in range(runs)]
        switching = [parent.run("light", "on") for _ in range(runs + 1)][1:]
        processes.log(f"  pairing {median(pairing):.0f} ms, light on {median(switching):.0f} ms as a whole process")
        done = subprocess.run(
            [bench.benchmarks, "orders", "--state", parent.state, "--count", "20" if bench.is_quick else "200"],
            capture_output=True, text=True)
        if done.returncode != 0:
            raise Problem(f"cradle-benchmarks orders: {done.stderr.strip()}")
        report = json.loads(done.stdout)
        answers, stills = report["commandMilliseconds"], report["stillMilliseconds"]
        processes.log(f"  an order's answer {median(answers):.2f} ms, a still {median(stills):.0f} ms")
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


def _discovery(bench: Bench) -> list[Figure]:
    firsts, wholes = [], []
    with HouseNetwork() as network, MeasuredChild(bench.child_program, network):
        time.sleep(3)  # it has said its name
        for _ in range(3 if bench.is_quick else 10):
            began = time.perf_counter()
            look = subprocess.Popen(
                [*network.prefix(), bench.parent_program, "discover", "--json"], stdout=subprocess.PIPE, text=True)
            assert look.stdout
            line = look.stdout.readline()
            firsts.append((time.perf_counter() - began) * 1000)
            if not line or look.wait(10) != 0:
                raise Problem("cradle-parent discover found nothing")
            wholes.append((time.perf_counter() - began) * 1000)
    processes.log(f"  discover: the child's line after {median(firsts):.0f} ms, the whole list after {median(wholes):.0f} ms")
    return [
        Figure(
            "discover, whole process, median", "ms", median(wholes), runs=wholes,
            note=f"the child's line after {median(firsts):.0f} ms; it looks a while longer for others; "
            f"{len(wholes)} runs, slowest {max(wholes):.0f} ms",
        ).judged("< 1500 ms", lambda f: max(wholes) < 1500),
    ]  # fmt: skip
