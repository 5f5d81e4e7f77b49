"""`cradle-parent watch` as it goes on, and what it says."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from typing import Any

from cradle.ends import Parent


class Watching:
    """`cradle-parent watch --stats`: one object a second, with the time at which it came."""

    def __init__(self, parent: Parent, seconds: int, address: str = "Away", *arguments: str):
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            parent.watching(address, "--duration", str(seconds), *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=parent.environment)  # fmt: skip
        self.lines: list[tuple[float, dict[str, Any]]] = []
        self.said: list[tuple[float, str]] = []
        self.threads = [threading.Thread(target=self.read), threading.Thread(target=self.listen)]
        for thread in self.threads:
            thread.start()

    def read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith("{"):
                self.lines.append((time.monotonic() - self.began, json.loads(line)))

    def listen(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.said.append((time.monotonic() - self.began, line.strip()))

    def wait_for_picture(self, within: float = 30) -> None:
        deadline = time.monotonic() + within
        while not any(line.get("framesDecoded") for _, line in self.lines):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"no picture: {self.said}")
            time.sleep(0.05)

    def end(self) -> dict[str, Any]:
        try:
            self.process.wait(120)
        finally:
            self.process.kill()
        for thread in self.threads:
            thread.join()
        return self.lines[-1][1] if self.lines else {}

    def stop(self) -> None:
        self.process.terminate()
        self.end()

    def silent_seconds(self, since: float) -> int:
        """Seconds in which no sound came, from a moment on; the last line is of the whole session. Sound, because on a busy
        machine the picture may have to wait."""
        counted = [line for came, line in self.lines[:-1] if came > since - self.began + 0.5]
        return sum(line["audioKbps"] < 5 for line in counted)

    def told_after(self, *words: str) -> float | None:
        """When all of these words first stood in one line."""
        return next((round(came, 2) for came, line in self.said if all(word in line for word in words)), None)

    def wait_until_told(self, *words: str) -> float | None:
        """As `told_after`, once it is so or the session has ended; ends it."""
        while self.told_after(*words) is None and self.process.poll() is None:
            time.sleep(0.05)
        self.stop()
        return self.told_after(*words)

    @property
    def is_heard(self) -> bool:
        """At the end."""
        return len(self.lines) > 1 and self.lines[-2][1]["audioKbps"] > 5
