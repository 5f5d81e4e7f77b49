"""The child's program: killed, stopped, stuck."""

from __future__ import annotations

import os
import signal
import time

from house import wait_for
from measure import Bounds, Trial
from row import row


@row("child-killed", "the child's program is killed (SIGKILL)", Bounds(rings="link", goes_by_gap=True), quick=True)
def child_killed(trial: Trial) -> None:
    child = trial.house.child
    trial.broken()
    os.kill(child.process.pid, signal.SIGKILL)
    wait_for("the child is started anew", 10, lambda: child.first("ready", trial.broken_at))
    trial.mended_at = child.first("started", trial.broken_at) or 0
    trial.finish()


@row("child-stopped", "the child is switched off properly (SIGTERM), and on again after 8 s",
     Bounds(shows="child-stopped"), quick=True)  # fmt: skip
def child_stopped(trial: Trial) -> None:
    child = trial.house.child
    trial.broken()
    os.kill(child.process.pid, signal.SIGTERM)
    wait_for("the child ends", 10, lambda: child.first("ended", trial.broken_at))
    trial.expect(child.first("ended 0", trial.broken_at), "the child did not end with status 0")
    time.sleep(8)
    child.start_again()
    trial.mended()
    trial.finish()
