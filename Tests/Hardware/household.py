"""The family's end: a Linux machine on the child's network, with an Avahi of its own and cradle-parent. Standard library
only."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from machine import Machine, MachineError

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type><listen>{address}</listen><auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
  </policy>
</busconfig>
"""
AVAHI = "[server]\nhost-name=sofa\nuse-ipv4=yes\nuse-ipv6=no\n[publish]\npublish-hinfo=no\npublish-workstation=no\n"


class Household:
    """Programs of the host in the machine's network namespace, from entry to exit."""

    def __init__(self, machine: Machine, parent: Path):
        self.machine, self.program = machine, parent
        self.folder = Path(tempfile.mkdtemp(prefix="cradle-household-"))
        self.address = f"unix:path={self.folder}/bus"
        self.daemons: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Household":
        (self.folder / "bus.conf").write_text(BUS.format(address=self.address))
        (self.folder / "avahi.conf").write_text(AVAHI)
        self.start("dbus-daemon", "--nofork", "--nopidfile", f"--config-file={self.folder}/bus.conf")
        # A mount namespace gives the daemon a /run of its own.
        self.start(
            *("unshare", "--mount", "sh", "-c"),
            "mount -t tmpfs tmpfs /run && mkdir /run/avahi-daemon || exit 1\n"
            f"for try in $(seq 100); do [ -S {self.folder}/bus ] && break; sleep 0.1; done\n"
            f"exec avahi-daemon --no-drop-root --no-chroot --no-rlimits -f {self.folder}/avahi.conf",
        )
        return self

    def __exit__(self, *_: Any) -> None:
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def inside(self, *command: str) -> list[str]:
        return ["ip", "netns", "exec", self.machine.namespace, *command]

    def environment(self) -> dict[str, str]:
        return {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address}

    def start(self, *command: str) -> None:
        with open(self.folder / "log", "ab") as log:
            self.daemons.append(
                subprocess.Popen(self.inside(*command), env=self.environment(), stdout=log, stderr=log)
            )

    def parent(self, *arguments: str, keepsState: bool = True, timeout: float = 60) -> str:
        """Runs cradle-parent; what it printed. Its failure is the test's."""
        state = ["--state-directory", str(self.folder / "state")] if keepsState else []
        result = subprocess.run(
            self.inside(str(self.program), *arguments, *state),
            env=self.environment(), capture_output=True, text=True, timeout=timeout,
        )
        if result.returncode != 0:
            raise MachineError(f"cradle-parent {' '.join(arguments)} ended with {result.returncode}: {result.stderr}")
        return result.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.parent(*arguments, "--json").strip().splitlines()[-1])

    def discover(self, name: str) -> dict[str, Any] | None:
        lines = self.parent("discover", "--json", "--timeout", "8s", keepsState=False).splitlines()
        children = [json.loads(line) for line in lines if line.strip()]
        return next((child for child in children if child["name"] == name), None)
