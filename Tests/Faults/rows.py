"""All rows, in the order of the table."""

from __future__ import annotations

import faults_devices  # noqa: F401
import faults_machine  # noqa: F401
import faults_network  # noqa: F401
import faults_program  # noqa: F401
import row
from row import Row

ORDER = (
    "child-killed child-stopped child-stands-still loop-stuck encoder-stuck microphone-stuck memory-refused "
    "network-2s network-3s network-10s network-10min loss-20-short loss-5 loss-20 evening address-changes parent-moves "
    "parent-moves-nat router-gone no-names "
    "avahi-restarted bus-gone camera-gone camera-hangs camera-frozen camera-black program-repeats microphone-zero "
    "microphone-hangs child-speaker-gone parent-speaker-gone viewer-stands-still come-and-go come-and-go-100 disk-full "
    "disk-read-only clock-ahead clock-back clock-1970"
).split()
ROWS = sorted(row.ROWS, key=lambda row: ORDER.index(row.name))

__all__ = ["ROWS", "Row"]
