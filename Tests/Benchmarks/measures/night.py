"""What `bench.py` measures of the night: the encoder's noise filter on a dim room with a sensor's noise (NoisyRoom.swift)."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from cradle.figures import Figure
from measures.base import Bench
from servers import Problem
from cradle import processes

#: kbit/s: what a good network gives, and a poor one.
RATES = (400, 1500)


def noise(bench: Bench) -> list[Figure]:
    reports = {}
    # Pictures a second: by a usual camera, and by one with a slow shutter.
    for rate, framerate in [*((rate, 30) for rate in RATES), (1500, 10)]:
        reports[rate, framerate] = report = _encode(bench, rate, framerate)
        processes.log(f"  at {rate} kbit/s, {framerate} pictures a second, of which the noise leaves {report['noisyPSNR']:.1f} dB:")
        for setting in report["settings"]:
            processes.log(
                f"    noise sensitivity {setting['sensitivity']}, quantizer from {setting['minimumQuantizer']}:"
                f" {setting['kbps']:.0f} kbit/s, {setting['lumaPSNR']:.2f} dB, where something moves"
                f" {setting['movingPSNR']:.2f} dB, {setting['cpuMillisecondsPerFrame']:.1f} ms,"
                f" {setting['dropped']} dropped" + (f" (by {setting['use']})" if "use" in setting else ""))  # fmt: skip
    bench.raw["noise"] = [{"kbps": rate, "framerate": framerate} | report for (rate, framerate), report in reports.items()]
    figures = []
    for (rate, framerate), report in reports.items():
        day, night = (next(s for s in report["settings"] if s.get("use") == use) for use in ("day", "night"))
        what = f"noisy room, {rate} kbit/s, {framerate} pictures/s:"
        figures += [
            Figure(f"{what} rate", "kbit/s", night["kbps"], day["kbps"], "without the filter", "ratio"),
            Figure(f"{what} luma PSNR against the room without noise", "dB", night["lumaPSNR"], day["lumaPSNR"],
                   "without the filter", "difference").judged("≥ +0.00 dB", lambda f: f.comparison >= 0),
            Figure(f"{what} the same where something moves", "dB", night["movingPSNR"], day["movingPSNR"],
                   "without the filter", "difference").judged("≥ +0.00 dB", lambda f: f.comparison >= 0),
            Figure(f"{what} processor time a picture", "ms", night["cpuMillisecondsPerFrame"],
                   day["cpuMillisecondsPerFrame"], "without the filter", "ratio"),
        ]  # fmt: skip
    return figures


def _encode(bench: Bench, kbps: int, framerate: int) -> dict[str, Any]:
    frames = 120 if bench.is_quick else 300
    done = subprocess.run(
        [bench.benchmarks, "noise", f"--bitrate={kbps}", f"--framerate={framerate}", f"--frames={frames}"],
        capture_output=True, text=True)  # fmt: skip
    if done.returncode != 0:
        raise Problem(f"cradle-benchmarks noise: {done.stderr.strip()}")
    return json.loads(done.stdout)
