"""A network of its own in which an Avahi daemon runs and nothing leaves this machine. Needs root."""

from __future__ import annotations

import subprocess
import uuid
from typing import Self

from cradle import avahi

ADDRESS = "10.77.6.1"


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


class HouseNetwork:
    """One namespace with a network card, whose cable ends in the same namespace; `with` removes it."""

    def __init__(self) -> None:
        self.name = f"cradle-bench-{uuid.uuid4().hex[:8]}"
        _ip("netns", "add", self.name)
        try:
            _ip("-n", self.name, "link", "set", "lo", "up")
            _ip("-n", self.name, "link", "add", "card", "type", "veth", "peer", "name", "far")
            _ip("-n", self.name, "addr", "add", f"{ADDRESS}/24", "dev", "card")
            for end in ("card", "far"):
                _ip("-n", self.name, "link", "set", end, "up")
            self.avahi = avahi.Avahi("bench", ["ip", "netns", "exec", self.name])
        except BaseException:
            _ip("netns", "delete", self.name)
            raise

    def address(self, _: int = 0) -> str:
        return ADDRESS

    def prefix(self, _: int = 0) -> list[str]:
        """What to put before a command to have it run there."""
        variables = [f"{name}={value}" for name, value in self.avahi.environment.items()]
        return ["ip", "netns", "exec", self.name, "env", *variables]

    def close(self) -> None:
        self.avahi.close()
        _ip("netns", "delete", self.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
