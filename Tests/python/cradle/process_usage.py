"""What a Linux process has used so far, from /proc (proc(5))."""

from __future__ import annotations

import os
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads."""
    with open(f"/proc/{pid}/stat") as file:
        # The command's name may hold spaces; what follows its bracket may not.
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_kb(pid: int) -> int:
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def usage(pid: int | None = None) -> dict[str, Any]:
    pid = pid or os.getpid()
    return {"cpuSeconds": cpu_seconds(pid), "rssKb": resident_kb(pid)}
