"""cradle-child as tests run it, from its start to its end. Standard library only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from . import processes


class ChildError(Exception):
    """It did not do what it was asked to; the text says what."""


class RunningChild:
    """A child that somebody has started, by its commands."""

    def __init__(self, program: str | Sequence[str], *directories: str):
        """`program`: with what runs it in front, such as an emulator."""
        self.program = [program] if isinstance(program, str) else list(program)
        self.directories = list(directories)

    def command(self, *arguments: str) -> list[str]:
        return [*self.program, *arguments, *self.directories]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Whatever comes of it."""
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=60)

    def output(self, *arguments: str) -> str:
        done = self.run(*arguments)
        if done.returncode != 0:
            raise ChildError(f"cradle-child {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def ask(self, *arguments: str) -> Any:
        """What a command prints as JSON."""
        return json.loads(self.output(*arguments, "--json"))

    def status(self) -> Any:
        """None while it does not answer."""
        done = self.run("status", "--json")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def add_token(self, name: str, allow: str = "view,listen") -> str:
        return str(self.ask("token", "add", "--name", name, "--allow", allow)["token"])

    def open_pairing(self, *arguments: str) -> tuple[dict[str, Any], subprocess.Popen[str]]:
        """Opens the pairing window: what `pair --json` prints first, and the program that waits."""
        window = processes.start_process(self.command("pair", "--json", *arguments), stdout=subprocess.PIPE, text=True)
        assert window.stdout
        opened = dict(json.loads(window.stdout.readline()))
        # The command asks for the outcome only after it has printed this; who pairs before is not reported to it.
        time.sleep(0.5)
        return opened, window


class Child(RunningChild):
    """One with a state of its own, which can be ended and started again on the same port."""

    def __init__(
        self, program: str | Sequence[str], configuration: str, folder: Path | None = None, host: str | None = "127.0.0.1", port: int = 0,
        prefix: Sequence[str] = (), environment: Mapping[str, str] | None = None, patience: float = 30,
    ):  # fmt: skip
        """
        host: where it listens; None: as the configuration says.
        port: 0: the system chooses one, which may be taken when the child starts again.
        prefix: what runs it elsewhere, such as in a network namespace. Its commands run here.
        patience: seconds until it answers.
        """
        self.folder = folder or Path(processes.temporary_directory("child"))
        super().__init__(
            program, "--state-directory", str(self.folder / "state"), "--runtime-directory", str(self.folder / "run"))
        self.host, self.port = host, port
        self.prefix, self.patience = list(prefix), patience
        self.environment = {**os.environ, **(environment or {})}
        self.configuration, self.log = self.folder / "child.yaml", self.folder / "child.log"
        self.configuration.write_text(configuration)
        self.start()

    def start(self) -> None:
        address = [] if self.host is None else ["--listen", f"{self.host}:{self.port}"]
        with self.log.open("ab") as log:
            self.process = processes.start_process(
                [*self.prefix, *self.command("run", "--config", str(self.configuration), *address)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        deadline = time.monotonic() + self.patience
        while (status := self.status()) is None:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise ChildError(f"the child does not run: {self.words()}")
            time.sleep(0.05)
        self.port = int(status["port"])

    def words(self) -> str:
        """The end of its log."""
        return self.log.read_text("utf-8", "replace")[-2000:].strip()

    def end(self, number: int = signal.SIGTERM) -> int:
        """The signal, and its exit status."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def close(self) -> None:
        """As systemd would stop it, and by force after ten seconds."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        processes.end_process(self.process, gently=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def origin(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def whep(self) -> str:
        return f"{self.origin}/whep"
