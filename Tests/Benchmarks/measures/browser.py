"""What `bench.py` measures of a browser that watches the child over a bad network: Chromium, which is what most phones have."""

from __future__ import annotations

import os
from dataclasses import dataclass

from cradle.figures import Figure, median
from network.lossy_cable import LossyCable
from measures.base import Bench
from servers import MeasuredChild, Problem, watch
from cradle import processes

#: Each way, at random.
LOSSES_PERCENT = (0, 5, 20)
ROUND_TRIP_MS = 20
CAMERA_FRAMES_PER_SECOND = 30


@dataclass
class Seen:
    """One run."""

    #: Of the pictures that the camera took, in percent.
    pictures_percent: float
    freezes: float
    frozen_seconds: float
    #: Of the sound, in percent.
    concealed_percent: float


def browser_loss(bench: Bench) -> list[Figure]:
    if os.geteuid() != 0:
        raise Problem("two hosts in network namespaces need root")
    seconds = 10 if bench.is_quick else 20
    figures: list[Figure] = []
    for loss in LOSSES_PERCENT:
        runs: list[Seen] = []
        for number in range(bench.rounds):
            with LossyCable(loss, ROUND_TRIP_MS / 2, seed=number + 1) as cable:
                with MeasuredChild(bench.child_program, cable) as child:
                    result = watch("chromium", child, seconds, prefix=cable.prefix(1))
            bench.raw.setdefault("browserLoss", []).append({"loss": loss, "result": result})
            runs.append(
                Seen(
                    pictures_percent=result["framesDecoded"] / (seconds * CAMERA_FRAMES_PER_SECOND) * 100,
                    freezes=result["freezeCount"],
                    frozen_seconds=result["freezeMs"] / 1000,
                    concealed_percent=result["browser"].get("concealedSamples", 0) / (seconds * 48_000) * 100,
                )
            )
            processes.log(f"  Chromium, {loss} % lost each way: {runs[-1]}")
        pictures = Figure(
            f"Chromium, {loss} % loss: pictures decoded", "%", median([run.pictures_percent for run in runs]), runs=runs,
            note=f"of what the camera took; {seconds} s and {len(runs)} runs, {ROUND_TRIP_MS} ms round trip; "
            f"freezes {median([run.freezes for run in runs]):.0f}, {median([run.frozen_seconds for run in runs]):.1f} s",
        )  # fmt: skip
        if loss == 20:
            pictures.judged("≥ 80", lambda figure: figure.ours >= 80)
        figures.append(pictures)
    return figures
