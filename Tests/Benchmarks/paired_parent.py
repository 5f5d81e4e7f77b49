"""A parent that is paired with a child that is measured."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Sequence

from servers import MeasuredChild, Problem


class PairedParent:
    """The parent's commands with a state of their own."""

    def __init__(self, program: str, folder: str, prefix: Sequence[str] = ()):
        """`prefix`: before each command, for one who lives in another network namespace."""
        self.program, self.prefix, self.state = program, prefix, str(Path(folder) / "parent")

    def command(self, *arguments: str) -> list[str]:
        return [*self.prefix, self.program, *arguments, "--state-directory", self.state]

    def run(self, *arguments: str) -> float:
        """Milliseconds from the start of the process to its end."""
        began = time.perf_counter()
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True)
        took = (time.perf_counter() - began) * 1000
        if done.returncode != 0:
            raise Problem(f"cradle-parent {' '.join(arguments)}: {done.stderr.strip()}")
        return took

    def pair(self, child: MeasuredChild) -> float:
        opened, window = child.commands.open_pairing()
        took = self.run("pair", f"{child.host}:{child.port}", "--code", opened["code"])
        # The child prints who paired when it has stored it.
        window.wait(10)
        return took
