"""The network between child and parent."""

from __future__ import annotations

import time

from measure import Bounds, Trial
from row import row


def cut(trial: Trial, seconds: float) -> None:
    """The parent's cable is pulled out, and put in again."""
    trial.broken()
    trial.house.network.plug("parent", "down")
    time.sleep(seconds)
    trial.house.network.plug("parent", "up")
    trial.mended()
    trial.finish()


@row("network-2s", "the parent has no network for 2 s", Bounds(), quick=True)
def network_2s(trial: Trial) -> None:
    cut(trial, 2)


@row("network-3s", "the parent has no network for 3 s", Bounds(), quick=True)
def network_3s(trial: Trial) -> None:
    cut(trial, 3)


@row("network-10s", "the parent has no network for 10 s", Bounds(rings="link"), quick=True)
def network_10s(trial: Trial) -> None:
    cut(trial, 10)


@row("network-10min", "the parent has no network for 10 min", Bounds(rings="link"))
def network_10min(trial: Trial) -> None:
    cut(trial, 600)
