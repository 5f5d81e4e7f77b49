"""A parent that is paired with a child that is measured."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

from measures import Bench
from servers import Child, Problem


class PairedParent:
    """The parent's commands with a state of their own."""

    def __init__(self, bench: Bench, folder: str):
        self.bench, self.state = bench, str(Path(folder) / "parent")

    def command(self, *arguments: str) -> list[str]:
        return [self.bench.parent_program, *arguments, "--state-directory", self.state]

    def run(self, *arguments: str) -> float:
        """Milliseconds from the start of the process to its end."""
        began = time.perf_counter()
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True)
        took = (time.perf_counter() - began) * 1000
        if done.returncode != 0:
            raise Problem(f"cradle-parent {' '.join(arguments)}: {done.stderr.strip()}")
        return took

    def pair(self, child: Child) -> float:
        window = subprocess.Popen(
            [self.bench.child_program, "pair", "--json", *child.directories], stdout=subprocess.PIPE, text=True)
        assert window.stdout
        code = json.loads(window.stdout.readline())["code"]
        took = self.run("pair", f"127.0.0.1:{child.port}", "--code", code)
        # The child prints who paired when it has stored it.
        window.wait(10)
        return took
