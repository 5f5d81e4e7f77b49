"""Somebody's downloads beside a call, over the same cable."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

from cradle import processes

PROGRAMS = Path(__file__).resolve().parent.parent / "programs"

PORT = 5201


class Downloads:
    """So many, from host 0 of a cable to host 1, some seconds after `with` has begun and until it ends."""

    def __init__(self, cable: Any, count: int, begins: float):
        self.cable, self.count, self.begins = cable, count, begins
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        # What a thread has started ends with it (prctl(2), PR_SET_PDEATHSIG).
        programs: list[subprocess.Popen[str]] = []
        if not self.ended.wait(self.begins):
            for number in range(self.count):
                address = ["--address", self.cable.address(1), "--port", str(PORT + number)]
                for host, role in ((1, "receive"), (0, "send")):
                    command = [*self.cable.prefix(host), sys.executable, str(PROGRAMS / "tcp_flow.py"), role, *address]
                    programs.append(processes.start_process(command, stdin=subprocess.DEVNULL, text=True))
        self.ended.wait()
        for program in programs:
            processes.end_process(program)

    def __enter__(self) -> Self:
        if self.count:
            self.thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.ended.set()
        if self.count:
            self.thread.join(20)
