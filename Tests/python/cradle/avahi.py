"""A message bus and an Avahi daemon of our own, for machines where none runs. Needs root; only the standard library."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self, Sequence

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
  </policy>
</busconfig>
"""
AVAHI = "[server]\nhost-name={host}\n[wide-area]\nenable-wide-area=no\n[publish]\npublish-hinfo=no\npublish-workstation=no\n"


def is_running() -> bool:
    """Whether the machine's own daemon answers."""
    try:
        return subprocess.run(["avahi-daemon", "--check"], capture_output=True).returncode == 0
    except OSError:
        return False


def can_start() -> bool:
    return os.geteuid() == 0 and all(shutil.which(name) for name in ("avahi-daemon", "dbus-daemon", "unshare"))


class Avahi:
    """Runs for as long as a `with` lasts; `environment` leads programs to it. `prefix` goes before every command."""

    def __init__(self, host_name: str, prefix: Sequence[str] = ()) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="cradle-avahi-"))
        socket, bus, avahi = self.folder / "bus", self.folder / "bus.conf", self.folder / "avahi.conf"
        bus.write_text(BUS.format(socket=socket))
        avahi.write_text(AVAHI.format(host=host_name))
        #: What programs need in their environment to use this bus.
        self.environment = {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={socket}"}
        # A mount namespace gives the daemon a /run of its own.
        script = (
            "mount -t tmpfs tmpfs /run && mkdir /run/avahi-daemon && exec avahi-daemon --no-drop-root --no-chroot "
            f"--no-rlimits -f {shlex.quote(str(avahi))}"
        )
        self.processes: list[subprocess.Popen[bytes]] = []
        try:
            self._start([*prefix, "dbus-daemon", "--nofork", "--nopidfile", f"--config-file={bus}"])
            self._wait_for(lambda: socket.exists())
            self._start([*prefix, "unshare", "--mount", "sh", "-c", script])
            # Its name on the bus is there when it answers.
            asking = ["dbus-send", f"--bus=unix:path={socket}", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                      "org.freedesktop.DBus.GetNameOwner", "string:org.freedesktop.Avahi"]  # fmt: skip
            self._wait_for(lambda: subprocess.run(asking, capture_output=True).returncode == 0)
        except BaseException:
            self.close()
            raise

    def _start(self, command: list[str]) -> None:
        self.processes.append(subprocess.Popen(
            command, env=os.environ | self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL))  # fmt: skip

    def _wait_for(self, is_there) -> None:  # type: ignore[no-untyped-def]
        for _ in range(200):
            if is_there():
                return
            if any(process.poll() is not None for process in self.processes):
                break
            time.sleep(0.05)
        raise RuntimeError("Avahi did not start")

    def close(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
