"""A child and its parent at the two ends of `internet.Internet`, and what they meet at: see meeting_servers."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .child import Child
from .internet import CHILD_PORT, Side
from .meeting_servers import SECRET, Coturn, Failed, Rendezvous, trusting

__all__ = ["SECRET", "AwayChild", "Coturn", "Failed", "Parent", "Rendezvous"]


class AwayChild(Child):
    """With a test picture and tone, on its side of the Internet."""

    def __init__(self, program: str, side: Side, folder: Path, servers: str = "[]", meetings: str = "[]", away: str = ""):
        self.side = side
        super().__init__(
            program, self.text(servers, meetings, away), folder, host=None, prefix=side.prefix(),
            environment=trusting(folder / "authority.pem"))  # fmt: skip

    @staticmethod
    def text(servers: str, meetings: str, away: str) -> str:
        return (
            f"name: Away\nlisten: '[::]:{CHILD_PORT}'\ncameras: [{{id: cot, device: test, width: 320, height: 240}}]\n"
            f"microphone: {{device: test}}\nspeaker: {{device: \"null\"}}\nlights: []\nice-servers: {servers}\naway: {{meetings: {meetings}{away}}}\n")

    def configure(self, servers: str = "[]", meetings: str = "[]", away: str = "") -> None:
        """For the next start."""
        self.configuration.write_text(self.text(servers, meetings, away))

    def wait_until_met(self) -> None:
        """Until it is at all its meeting places."""
        deadline = time.monotonic() + 90
        while True:
            away = subprocess.run(
                [*self.side.prefix(), *self.command("away", "--json", "--config", str(self.configuration))],
                capture_output=True, text=True, env=self.environment)  # fmt: skip
            states = [meeting["state"] for meeting in json.loads(away.stdout or "{}").get("meetings", [])]
            if states and all(state == "present" for state in states):
                return
            if time.monotonic() > deadline:
                raise Failed(f"the child is not at its meeting place: {away.stdout} {away.stderr}")
            time.sleep(0.2)


class Parent:
    def __init__(self, program: str, side: Side, folder: Path):
        self.program, self.side = program, side
        self.environment = trusting(folder / "authority.pem")
        self.state = ["--state-directory", str(folder / "parent")]

    def pair_at_home(self, child: AwayChild, address: str = f"127.0.0.1:{CHILD_PORT}") -> None:
        """In the child's network; there the child tells how it is reached from elsewhere."""
        opened, window = child.open_pairing()
        home = child.side.prefix()
        self.run(home, "pair", address, "--code", opened["code"])
        window.wait(10)
        self.learn(child)

    def learn(self, child: AwayChild) -> None:
        """How the child is reached from elsewhere."""
        self.run(child.side.prefix(), "status")

    def run(self, prefix: list[str], *arguments: str) -> str:
        done = subprocess.run(
            [*prefix, self.program, *arguments, *self.state], capture_output=True, text=True, timeout=60, env=self.environment)
        if done.returncode != 0:
            raise Failed(f"cradle-parent {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    @property
    def presence(self) -> str:
        """What `children` says of the child."""
        return str(json.loads(self.run(self.side.prefix(), "children", "--json"))["children"][0]["presence"])

    def watching(self, address: str, *arguments: str) -> list[str]:
        """The command."""
        length = [] if "--duration" in arguments else ["--duration", "4"]
        fixed = ["watch", address, "--no-window", "--mute", "--stats", *length]
        return [*self.side.prefix(), self.program, *fixed, *arguments, *self.state]

    def watch(self, address: str, *arguments: str, until: Callable[[dict[str, Any]], bool] = lambda _: False) -> dict[str, Any]:
        """What was seen last, and what the program said.

        until: what need not be watched any longer.
        """
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                self.watching(address, *arguments), stdout=subprocess.PIPE, stderr=errors, text=True, env=self.environment)  # fmt: skip
            last = threading.Timer(90, process.kill)
            last.start()
            assert process.stdout
            lines = []
            for line in process.stdout:
                if line.startswith("{"):
                    lines.append(json.loads(line))
                    if until(lines[-1]):
                        process.terminate()
            process.wait()
            last.cancel()
            errors.seek(0)
            said = errors.read()[-600:]
        seen = next((line for line in reversed(lines) if line.get("candidatePair")), lines[-1] if lines else {})
        return {"said": said, **seen}
