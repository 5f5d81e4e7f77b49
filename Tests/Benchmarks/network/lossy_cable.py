"""The simplest bad network: every packet is delayed, some are lost, each by itself, both ways alike."""

from __future__ import annotations

from network.cable import NetworkCable
from network.models import Network


class LossyCable(NetworkCable):
    def __init__(self, loss_percent: float, delay_ms: float, seed: int):
        super().__init__(Network(delay_ms=delay_ms, loss_percent=loss_percent), seed)
