"""What `bench.py` measures of attacks: two parents watch while somebody leans on the child's ports, one attack after the other.

Needs a quiet machine more than the others do: attacker, child and both parents share it, which no house's network does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from cradle.figures import Figure, median
from measures.base import Bench
from cradle.process_usage import resident_kb
from servers import PEERS, MeasuredChild, Parent, Problem, Program
from cradle import processes

#: What attacker.py does, for the table.
ATTACKS = {
    "none": "no attack, for comparison",
    "idle": "5,000 silent TCP connections",
    "slow": "requests a byte at a time (slowloris)",
    "requests": "50,000 requests",
    "large": "headers, lines and bodies of 1 MB",
    "handshakes": "TLS handshakes without end",
    "places": "places in the room, taken and held",
    "frames": "WebSocket floods",
    "pairing": "guesses at a code",
    "udp": "STUN and garbage on the media port",
    "deaf": "answers that nobody takes, from 20 addresses",
    "holder": "one token's connections, as many as come",
}
SECONDS = 15
#: What shows only in time: a minute.
LONG = {"deaf": 60}
#: More of what attacker.py is told.
OPTIONS = {"deaf": ["--source", "127.2.0.1", "--sources", "20", "--count", "240"]}


class Paired(Program):
    """A paired parent that watches."""

    name = "cradle-parent"

    def __init__(self, program: str, state: str, seconds: float):
        super().__init__([
            program, "watch", "--state-directory", state, "--stats", "--speaker", "null",
            "--duration", str(seconds),
        ])  # fmt: skip

    def lines(self) -> list[dict[str, Any]]:
        return [dict(json.loads(line)) for line in self.output.read_text().splitlines()]

    def wait_for_picture(self) -> None:
        for _ in range(300):
            if any(line["framesPerSecond"] > 0 for line in self.lines()):
                return
            self.check()
            time.sleep(0.1)
        raise Problem(f"no picture came: {self.log_end()}")


class MemoryWatch:
    """The highest memory of a process while `with` lasts, in 10^6 bytes."""

    def __init__(self, program: Program):
        self.program, self.most, self.goes_on = program, 0.0, True
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        while self.goes_on:
            self.most = max(self.most, resident_kb(self.program.process.pid) * 1024 / 1e6)
            time.sleep(0.1)

    def __enter__(self) -> "MemoryWatch":
        self.thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.goes_on = False
        self.thread.join()


def concealed_between(before: dict[str, Any], after: dict[str, Any], seconds_before: float, seconds: float) -> float:
    """Percent of the sound of the last `seconds` that was made up; the figures count from the beginning."""
    first, last = before.get("concealedPercent") or 0.0, after.get("concealedPercent") or 0.0
    return max(0.0, (last * (seconds_before + seconds) - first * seconds_before) / max(seconds, 1))


def attacks(bench: Bench) -> list[Figure]:
    seconds = 4 if bench.is_quick else SECONDS
    figures = []
    with MeasuredChild(bench.child_program) as child, tempfile.TemporaryDirectory(prefix="cradle-bench-") as folder:
        state = str(Path(folder) / "parent")
        opened, window = child.commands.open_pairing()
        subprocess.run(
            [bench.parent_program, "pair", f"127.0.0.1:{child.port}", "--code", opened["code"], "--state-directory", state],
            check=True, capture_output=True)
        window.wait(10)
        status = child.ask("status")
        raw = bench.raw.setdefault("attacks", {})
        for attack, title in ATTACKS.items():
            long = seconds if bench.is_quick else LONG.get(attack, seconds)
            figures += measure(bench, child, state, status, attack, title, long, raw)
    return figures


def measure(
    bench: Bench, child: MeasuredChild, state: str, status: dict[str, Any], attack: str, title: str, seconds: float,
    raw: dict[str, Any],
) -> list[Figure]:
    whole = seconds + 10
    with Paired(bench.parent_program, state, whole) as paired, Parent(bench.parent_program, child, whole) as other:
        paired.wait_for_picture()
        time.sleep(3)
        before, quiet_mb = len(paired.lines()), child.resident_mb()
        attacker = processes.start_process(
            [
                sys.executable, str(PEERS / "attacker.py"), attack, "--port", str(child.port), "--media-port",
                str(status["mediaPort"]), "--room", status["id"], "--seconds", str(seconds), "--token", child.token,
                *OPTIONS.get(attack, []),
            ],
            stdout=subprocess.PIPE, text=True)  # fmt: skip
        with MemoryWatch(child) as memory:
            time.sleep(seconds / 2)
            # Another parent wants in while it goes on.
            began = time.perf_counter()
            order = subprocess.run(
                [bench.parent_program, "light", "toggle", "--state-directory", state], capture_output=True, text=True)
            order_ms = (time.perf_counter() - began) * 1000
            report, _ = attacker.communicate(timeout=seconds + 60)
        lines = paired.lines()
        during = lines[before + 1 :] or lines[-1:]
        rates = [line["framesPerSecond"] for line in during]
        concealed = concealed_between(lines[before - 1], lines[-1], before, len(lines) - before)
        freezes = lines[-1]["freezeCount"] - lines[before - 1]["freezeCount"]
        other_frozen = other.figures()[-1]["freezeCount"]
        found = dict(json.loads(report))
    raw[attack] = {
        "attacker": found, "framesPerSecond": rates, "concealedPercent": concealed, "freezes": freezes, "orderMs": order_ms,
        "orderStatus": order.returncode, "orderError": order.stderr.strip(), "quietMb": quiet_mb, "mostMb": memory.most,
        "afterMb": child.resident_mb(),
    }  # fmt: skip
    processes.log(f"  {title}: {json.dumps(raw[attack])}")
    answers = ", ".join(f"{code}: {count}" for code, count in sorted(found["answers"].items())) or "nothing"
    note = f"{found['attempted']} tried, answered by {answers}; frozen {freezes} times, the other viewer {other_frozen}"
    return [
        Figure(f"{title}: frames a second, median", "", median(rates), runs=rates, note=note).judged(
            ">= 28", lambda f: f.ours >= 28),
        Figure(f"{title}: sound made up", "%", round(concealed, 2)).judged("< 1 %", lambda f: f.ours < 1),
        Figure(f"{title}: a paired parent's order", "ms", order_ms, note=order.stderr.strip()).judged(
            "done in < 3 s", lambda f: order.returncode == 0 and f.ours < 3000),
        Figure(f"{title}: memory more than before", "MB", memory.most - quiet_mb).judged("< 20 MB", lambda f: f.ours < 20),
    ]  # fmt: skip
