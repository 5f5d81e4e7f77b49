"""What `bench.py` measures of the event store: appending, and the night report."""

from __future__ import annotations

import json
import subprocess

from cradle.figures import Figure, median
from measures.base import Bench
from servers import Problem


def events(bench: Bench) -> list[Figure]:
    done = subprocess.run(
        [bench.benchmarks, "events", "--count", "20000" if bench.is_quick else "200000"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Problem(f"cradle-benchmarks events: {done.stderr.strip()}")
    report = json.loads(done.stdout)
    alarms, nights = report["alarmMilliseconds"], report["nightMilliseconds"]
    years, latest = report["yearMilliseconds"], report["eventsMilliseconds"]
    return [
        Figure(
            "events appended", "1/s", report["appendedPerSecond"],
            note=f"each {report['batch']} of them are synced to the disk",
        ).judged("> 10,000 a second", lambda f: f.ours > 10_000),
        Figure(
            "an alarm, until it is on the disk, median", "ms", median(alarms), runs=alarms,
            note=f"{len(alarms)} commits, slowest {max(alarms):.1f} ms"),
        Figure(
            "report of a night, median", "ms", median(nights), runs=nights,
            note=f"of a year's store of {report['yearBytes'] >> 20} MB"),
        Figure(
            "report of a year, median", "ms", median(years), runs=years,
            note=f"{report['yearMinutes']} minutes, {report['yearEvents']} events, slowest {max(years):.0f} ms",
        ).judged("< 200 ms", lambda f: max(years) < 200),
        Figure("the latest 50 events of a year, median", "ms", median(latest), runs=latest),
    ]  # fmt: skip
