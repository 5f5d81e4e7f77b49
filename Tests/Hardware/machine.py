"""The virtual machine and the child in it, as the host holds them. Standard library only."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

ADDRESS = "10.77.0.11"
PORT = 8443
#: The guest's own: its C library, and ALSA with its configuration and plug-ins.
GUEST_LIBRARIES = re.compile(r"^(ld-linux.*|linux-vdso.*|lib(c|m|dl|rt|pthread|resolv|util|asound))\.so")


class MachineError(Exception):
    pass


def has_size(seen: tuple[int, int], size: tuple[int, int] = (640, 480)) -> bool:
    """The camera's size, or a smaller one of its shape: what a translated processor sends late looks like a bad path to the
    child, and it goes over to the smaller picture."""
    return seen[0] <= size[0] and seen[0] * size[1] == seen[1] * size[0]


class Machine:
    """Boots on entry, ends on exit. Commands run in it one at a time, as root."""

    def __init__(self, vm: Path, cache: Path, child: Path, packages: Path, processor: str = "", cameras: int = 1):
        self.vm, self.cache, self.processor, self.cameras = vm, cache, processor, cameras
        self.namespace = f"cradle{os.getpid()}"
        self.share = Path(tempfile.mkdtemp(prefix="cradle-hardware-"))
        self.control = self.share / "control"
        self.count = 0
        self.process: subprocess.Popen[bytes] | None = None
        self._stage(child)
        for name in ["cradle-child", "cradle-parent"]:
            (package,) = packages.glob(f"{name}_*.deb")
            shutil.copy(package, self.share / f"{name}.deb")

    def _stage(self, child: Path) -> None:
        self.control.mkdir()
        (self.share / "lib").mkdir()
        shutil.copy(child, self.share / "cradle-child")
        shutil.copy(Path(__file__).parent / "control-loop", self.share / "control-loop")
        for bundle in child.parent.glob("*.resources"):
            shutil.copytree(bundle, self.share / bundle.name)
        # One for another architecture finds its libraries in the guest, where its packages need them, too.
        listing = subprocess.run(["ldd", str(child)], capture_output=True, text=True).stdout
        for name, path in re.findall(r"^\s*(\S+) => (/\S+)", listing, re.MULTILINE):
            if not GUEST_LIBRARIES.match(name):
                shutil.copy(path, self.share / "lib" / name)

    def __enter__(self) -> "Machine":
        self.boot()
        return self

    def boot(self) -> None:
        self.count = 0
        for left in self.control.iterdir():
            left.unlink()
        self.console = open(self.share / "machine.log", "ab")
        self.process = subprocess.Popen(
            [str(self.vm / "run-vm"), "--lan", self.namespace, "--ip", ADDRESS, "--cameras", str(self.cameras)]
            + (["--processor", self.processor] if self.processor else [])
            + ["--timeout", "7200", "--boot-timeout", "400", "--share", str(self.share), str(self.cache)]
            + ["--", "bash", "control-loop"],
            stdout=self.console,
            stderr=subprocess.STDOUT,
        )
        self._wait_for(self.control / "ready", 400)

    def cut_power(self) -> None:
        """No word to the guest. What it wrote outside its share is gone."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait(30)
        self.console.close()

    def __exit__(self, *_: Any) -> None:
        (self.control / "end").touch()
        assert self.process is not None
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait(30)
        self.console.close()
        shutil.rmtree(self.share, ignore_errors=True)

    def _wait_for(self, path: Path, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not path.exists():
            assert self.process is not None
            if self.process.poll() is not None:
                raise MachineError(f"the machine has ended:\n{(self.share / 'machine.log').read_text()[-2000:]}")
            if time.monotonic() > deadline:
                raise MachineError(f"nothing came back within {seconds:.0f} s")
            time.sleep(0.05)

    def run(self, script: str, timeout: float = 60, check: bool = True) -> str:
        """Runs a shell script in the guest and returns what it printed."""
        self.count += 1
        part = self.control / f"{self.count}.part"
        part.write_text(script + "\n")
        part.rename(self.control / f"{self.count}.sh")
        self._wait_for(self.control / f"{self.count}.status", timeout)
        output = (self.control / f"{self.count}.out").read_text(errors="replace")
        status = int((self.control / f"{self.count}.status").read_text())
        if check and status != 0:
            raise MachineError(f"{script.strip()!r} ended with {status}:\n{output[-2000:]}")
        return output

    def inside(self, command: list[str], **keywords: Any) -> subprocess.CompletedProcess[str]:
        """Runs a program of the host on the machine's network."""
        return subprocess.run(
            ["ip", "netns", "exec", self.namespace, *command], capture_output=True, text=True, **keywords
        )


class MachineChild:
    """cradle-child in the machine, from entry to exit, and its log."""

    def __init__(
        self, machine: Machine, width: int = 640, height: int = 480, framerate: int = 25, device: str = "auto", keys: str = ""
    ):
        """`keys`: more of the camera's, as YAML's flow mapping has them, with a comma before each."""
        self.machine = machine
        self.configuration = "\n".join(
            [
                "name: Hardware test",
                f"listen: '0.0.0.0:{PORT}'",
                "cameras:",
                f"  - {{id: cot, device: {device}, width: {width}, height: {height}, framerate: {framerate}{keys}}}",
                # Nobody plays into it most of the time.
                "microphone: {device: 'hw:Loopback,0,0', may-be-silent: true}",
                "speaker: {device: none}",
            ]
        )
        self.token = ""

    def __enter__(self) -> "MachineChild":
        machine = self.machine
        (machine.share / "child.yaml").write_text(self.configuration + "\n")
        machine.run(
            "rm -rf /run/cradle /var/lib/cradle && mkdir -p /run/cradle /var/lib/cradle\n"
            "(./cradle-child run --config child.yaml --state-directory /var/lib/cradle --runtime-directory /run/cradle"
            " >child.log 2>&1; echo $? >/run/child-status) & \n"
            "for i in $(seq 200); do"
            " python3 -c \"import socket; socket.create_connection(('127.0.0.1', %d), 1)\" 2>/dev/null && exit 0;"
            " sleep 0.2; done; tail -20 child.log; exit 1" % PORT,
            timeout=90,
        )
        line = self.command("token add --name hardware --allow view,listen --json")
        self.token = json.loads(line.strip().splitlines()[-1])["token"]
        return self

    def __exit__(self, *_: Any) -> None:
        self.machine.run(
            "pkill -TERM -x cradle-child; for i in $(seq 50); do pgrep -x cradle-child >/dev/null || exit 0; sleep 0.2;"
            " done; pkill -KILL -x cradle-child; exit 1"
        )

    def command(self, arguments: str) -> str:
        return self.machine.run(
            f"./cradle-child {arguments} --state-directory /var/lib/cradle --runtime-directory /run/cradle"
        )

    def log(self) -> str:
        # The guest's kernel may keep for half a minute what was written to the shared folder.
        self.machine.run("sync child.log")
        return (self.machine.share / "child.log").read_text(errors="replace")

    def wait_for_log(self, pattern: str, since: int = 0, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.log()[since:], re.IGNORECASE):
            if time.monotonic() > deadline:
                raise MachineError(f"the child's log does not say {pattern!r}:\n{self.log()[-2000:]}")
            time.sleep(0.1)


def play_tone(machine: Machine, hertz: int) -> None:
    """Plays over and over into the microphone's other end, whether the card is there or not."""
    stop_tone(machine)
    machine.run(
        f"hil-sound tone /tmp/tone.wav {hertz} 20 3277\n"
        "setsid bash -c 'while true; do aplay -q -D plughw:Loopback,1,0 /tmp/tone.wav || sleep 0.5; done'"
        " >/dev/null 2>&1 & echo $! >/tmp/tone.pid"
    )


def stop_tone(machine: Machine) -> None:
    machine.run("[ ! -e /tmp/tone.pid ] || kill -- -$(cat /tmp/tone.pid); rm -f /tmp/tone.pid", check=False)
