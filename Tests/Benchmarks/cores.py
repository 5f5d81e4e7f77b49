"""Keeps what is measured and what watches it on different processors, so that neither slows the other down."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, contextmanager
from typing import Iterator

_ALL = sorted(os.sched_getaffinity(0))
#: The last processor is for those who watch; with one processor there is nothing to choose.
_WATCHING = set(_ALL[-1:])
_MEASURED = set(_ALL[:-1]) or _WATCHING


def stolen_seconds() -> float:
    """What other machines on the same host have taken from this one's processors since it started. proc(5), steal."""
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def busy_seconds() -> float:
    """What all processors of this machine together have worked since it started. proc(5), all but idle, iowait, steal."""
    with open("/proc/stat") as file:
        fields = [int(field) for field in file.readline().split()[1:8]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _only(cores: set[int]) -> Iterator[None]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def measured() -> AbstractContextManager[None]:
    """Programs that are started inside run where what is measured runs."""
    return _only(_MEASURED)


def watching() -> AbstractContextManager[None]:
    """Programs that are started inside run where what watches runs."""
    return _only(_WATCHING)
