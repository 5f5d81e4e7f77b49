"""Processes, temporary folders and ports of a test, which end with it. Standard library only."""

from __future__ import annotations

import atexit
import ctypes
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from typing import Any


def log(text: str) -> None:
    """Progress, on standard error, so that standard output holds the result alone."""
    print(text, file=sys.stderr, flush=True)


#: Of the ports that this process has reserved; they end with it.
reservations: list[socket.socket] = []


def reserved_port() -> int:
    """A port for a server that starts later, or again; free for UDP and TCP at all addresses. It is below those that the system gives to
    outgoing connections and to whoever asks for port 0, and no other test's until this process ends. ReservedPort.swift does the same."""
    first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    if first <= 11_000:
        raise OSError("the system uses nearly all ports for outgoing connections")
    for _ in range(200):
        port = random.randrange(10_000, first)
        # A name without a file belongs to the network namespace, as ports do.
        reservation = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            reservation.bind(f"\0cradle-test-port-{port}")
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                with socket.socket(socket.AF_INET6, kind) as probe:
                    probe.bind(("::", port))
        except OSError:
            reservation.close()
            continue
        reservations.append(reservation)
        return port
    raise OSError("no free port")


_processes: list[subprocess.Popen[Any]] = []
_directories: list[str] = []


def _die_with_parent() -> None:
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def start_process(command: list[str], **keywords: Any) -> subprocess.Popen[Any]:
    """Starts a program in a process group of its own; `end_processes` (called at exit too) ends the whole group."""
    process = subprocess.Popen(command, start_new_session=True, preexec_fn=_die_with_parent, **keywords)
    _processes.append(process)
    return process


def end_process(process: subprocess.Popen[Any], gently: bool = True) -> None:
    group = process.pid
    for number in ([signal.SIGTERM] if gently else []) + [signal.SIGKILL]:
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            break
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            continue
    process.poll()
    if process in _processes:
        _processes.remove(process)


def end_processes() -> None:
    for process in list(_processes):
        end_process(process, gently=False)
    while _directories:
        shutil.rmtree(_directories.pop(), ignore_errors=True)


def temporary_directory(name: str) -> str:
    directory = tempfile.mkdtemp(prefix=f"cradle-{name}-")
    _directories.append(directory)
    return directory


atexit.register(end_processes)
# A terminated viewer still ends its browser.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
