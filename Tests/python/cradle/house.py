"""A house in network namespaces: a child as systemd would run it, a router, and a paired parent that watches. Needs root;
only the standard library."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from . import avahi

#: systemd/cradle-child.service: RestartSec=, WatchdogSec=.
RESTART_SECONDS = 1.0
WATCHDOG_SECONDS = 20.0
NETWORK = "10.77.9"
#: The child's, where it stands behind a NAT.
BEHIND_NAT = "10.77.8"
#: Small, so that an unoptimized build has time to spare, and what is measured is the fault.
CAMERA = "{id: cot, device: test, width: 320, height: 240, framerate: 15}"


class Problem(Exception):
    """The row could not be tried."""


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Problem(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def wait_for(what: str, limit: float, is_there: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        if value := is_there():
            return value
        time.sleep(0.05)
    raise Problem(f"{what}: not within {limit:.0f} s")


class Network:
    """child — router — parent: a bridge in a namespace of its own, and a cable to each host. With `nat` the router hides the
    child behind an address of its own, and passes only the port for pairing and signalling on to it."""

    def __init__(self, nat: bool = False) -> None:
        mark = uuid.uuid4().hex[:6]
        self.child, self.parent, self.router = (f"cradle-{who}-{mark}" for who in ("child", "parent", "router"))
        for name in (self.child, self.parent, self.router):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", self.router, "link", "add", "bridge", "type", "bridge")
        self.switch("up")
        for host, last in ((self.child, 1), (self.parent, 2)):
            port = "child" if host == self.child else "parent"
            run("ip", "link", "add", "card", "netns", host, "type", "veth", "peer", "name", port, "netns", self.router)
            # One family, so that nothing takes another way.
            run("ip", "-n", host, "link", "set", "card", "addrgenmode", "none")
            hidden = nat and host == self.child
            run("ip", "-n", host, "addr", "add", f"{BEHIND_NAT if hidden else NETWORK}.{last}/24", "dev", "card")
            run("ip", "-n", host, "link", "set", "card", "up")
            if hidden:
                self._hide_child()
            else:
                run("ip", "-n", self.router, "link", "set", port, "master", "bridge", "up")

    def _hide_child(self) -> None:
        run("ip", "-n", self.router, "link", "set", "child", "up")
        run("ip", "-n", self.router, "addr", "add", f"{BEHIND_NAT}.254/24", "dev", "child")
        run("ip", "-n", self.router, "addr", "add", f"{NETWORK}.1/24", "dev", "bridge")
        run("ip", "-n", self.child, "route", "add", "default", "via", f"{BEHIND_NAT}.254")
        run(*self.inside(self.router), "sysctl", "-qw", "net.ipv4.ip_forward=1")
        # As home routers do: what comes in is an answer, or the port that was opened.
        run(*self.inside(self.router), "nft", "table ip home { "
            f"chain incoming {{ type nat hook prerouting priority dstnat; iifname \"bridge\" tcp dport 8443 dnat to {BEHIND_NAT}.1; }}; "
            "chain outgoing { type nat hook postrouting priority srcnat; oifname \"bridge\" masquerade; }; "
            "chain passing { type filter hook forward priority filter; policy drop; ct state established,related accept; "
            "iifname \"child\" accept; ct status dnat accept; }; }")  # fmt: skip

    def inside(self, host: str) -> list[str]:
        return ["ip", "netns", "exec", host]

    def switch(self, state: str) -> None:
        """The router itself: `up` or `down`."""
        run("ip", "-n", self.router, "link", "set", "bridge", state)

    def plug(self, host: str, state: str) -> None:
        """The router's end of a host's cable, `child` or `parent`: `up` or `down`."""
        run("ip", "-n", self.router, "link", "set", host, state)

    def lose(self, percent: int) -> None:
        """Of all that comes in at the parent and at the child. 0: nothing, 100: everything."""
        for host in (self.child, self.parent):
            subprocess.run([*self.inside(host), "nft", "delete", "table", "inet", "faults"], capture_output=True)
            if percent == 0:
                continue
            verdict = "drop" if percent == 100 else f"numgen random mod 100 < {percent} drop"
            run(*self.inside(host), "nft", "table inet faults { chain input { type filter hook input priority filter; "
                f"policy accept; iifname card {verdict}; }}; }}")  # fmt: skip

    def move(self, host: str, last: int) -> None:
        """`child` or `parent` has another address from now on, as after a router has forgotten it."""
        name = {"child": self.child, "parent": self.parent}[host]
        run("ip", "-n", name, "addr", "flush", "dev", "card")
        run("ip", "-n", name, "addr", "add", f"{NETWORK}.{last}/24", "dev", "card")

    def close(self) -> None:
        for name in (self.child, self.parent, self.router):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


class Lines:
    """What a program prints, each line with the time at which it came."""

    def __init__(self, stream: Any) -> None:
        self.lines: list[tuple[float, str]] = []
        self.thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self.thread.start()

    def _read(self, stream: Any) -> None:
        for line in stream:
            self.lines.append((time.monotonic(), line.rstrip("\n")))

    def first(self, text: str, since: float = 0) -> float | None:
        return next((at for at, line in list(self.lines) if at >= since and text in line), None)

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in list(self.lines))


class Service:
    """The child, as systemd runs it by systemd/cradle-child.service: started anew after a failure, ended when its watchdog is
    not fed."""

    def __init__(self, program: str, folder: Path, prefix: list[str], configuration: str, environment: dict[str, str],
                 launcher: list[str]):  # fmt: skip
        self.program, self.folder, self.prefix, self.environment = program, folder, prefix, environment
        self.launcher = launcher
        self.configuration = folder / "child.yaml"
        self.configuration.write_text(configuration)
        self.state = folder / "state"
        self.directories = ["--state-directory", str(self.state), "--runtime-directory", str(folder / "run")]
        self.listen = "0.0.0.0:8443"
        #: (time, what): started, ready, ended, watchdog.
        self.history: list[tuple[float, str]] = []
        self.logs: list[Lines] = []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(folder / "notify"))
        self.socket.settimeout(0.1)
        self.is_wanted = True
        self.fed = time.monotonic()
        self.process = self._start()
        self.thread = threading.Thread(target=self._keep, daemon=True)
        self.thread.start()

    def _start(self) -> subprocess.Popen[str]:
        self.history.append((time.monotonic(), "started"))
        self.fed = time.monotonic()
        # Installed programs have no helper that prints where they crashed, which takes seconds.
        variables = {**self.environment, "SWIFT_BACKTRACE": "enable=no", "NOTIFY_SOCKET": str(self.folder / "notify"),
                     "WATCHDOG_USEC": str(int(WATCHDOG_SECONDS * 1e6))}  # fmt: skip
        process = subprocess.Popen(
            [*self.prefix, "env", *[f"{name}={value}" for name, value in variables.items()], *self.launcher, self.program, "run",
             "--config", str(self.configuration), "--listen", self.listen, *self.directories],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")  # fmt: skip
        self.logs.append(Lines(process.stderr))
        return process

    def _keep(self) -> None:
        while self.is_wanted:
            try:
                words = self.socket.recv(4096).decode(errors="replace").split("\n")
                if "WATCHDOG=1" in words or "READY=1" in words:
                    self.fed = time.monotonic()
                if "READY=1" in words:
                    self.history.append((time.monotonic(), "ready"))
            except TimeoutError:
                pass
            if self.process.poll() is None:
                if time.monotonic() - self.fed > WATCHDOG_SECONDS:
                    self.history.append((time.monotonic(), "watchdog"))
                    # systemd wakes what it ends.
                    self.process.send_signal(signal.SIGABRT)
                    self.process.send_signal(signal.SIGCONT)
                    self.fed = time.monotonic()
                continue
            self.history.append((time.monotonic(), f"ended {self.process.returncode}"))
            # Restart=on-failure
            if self.process.returncode == 0:
                return
            time.sleep(RESTART_SECONDS)
            if self.is_wanted:
                self.process = self._start()

    def start_again(self) -> None:
        """After a stop."""
        self.thread.join()
        self.process = self._start()
        self.thread = threading.Thread(target=self._keep, daemon=True)
        self.thread.start()

    def first(self, what: str, since: float) -> float | None:
        return next((at for at, event in list(self.history) if at >= since and event.startswith(what)), None)

    def said(self, text: str, since: float = 0) -> float | None:
        return next((at for log in list(self.logs) if (at := log.first(text, since)) is not None), None)

    def command(self, *arguments: str) -> str:
        return run(self.program, *arguments, *self.directories)

    def thread_ids(self, name: str) -> list[int]:
        """Those whose names begin with it."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        found = [int(task.name) for task in tasks if (task / "comm").read_text().startswith(name)]
        if not found:
            raise Problem(f"the child has no thread {name}")
        return found

    @property
    def log(self) -> str:
        return "\n".join(log.text for log in list(self.logs))

    def close(self) -> None:
        self.is_wanted = False
        self.thread.join()
        end(self.process)
        self.socket.close()


def end(process: subprocess.Popen[Any], limit: float = 5) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


class SpeakerFile:
    """The samples of a speaker that is a file, and when each was played."""

    HEADER_BYTES = 44
    RATE = 48_000

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sizes: list[tuple[float, int]] = []
        self.isOpen = True
        self.thread = threading.Thread(target=self._follow, daemon=True)
        self.thread.start()

    def _follow(self) -> None:
        while self.isOpen:
            try:
                size = self.path.stat().st_size
            except OSError:
                size = 0
            if size > self.HEADER_BYTES and (not self.sizes or size != self.sizes[-1][1]):
                self.sizes.append((time.monotonic(), size))
            time.sleep(0.01)

    def latest(self) -> list[tuple[float, int]]:
        """Since the file was begun: a speaker that is opened again begins anew."""
        sizes = list(self.sizes)
        shorter = [index for index in range(1, len(sizes)) if sizes[index][1] < sizes[index - 1][1]]
        return sizes[shorter[-1]:] if shorter else sizes

    def close(self) -> None:
        self.isOpen = False
        self.thread.join()


@dataclass
class Line:
    at: float
    figures: dict[str, Any]


class Parent:
    """`cradle-parent watch --stats`, whose speaker is a file."""

    def __init__(self, program: str, folder: Path, prefix: list[str], speaker_folder: Path):
        self.program, self.prefix, self.state = program, prefix, folder / "state"
        self.speaker_path = speaker_folder / "speaker.wav"
        self.process: subprocess.Popen[str] | None = None

    def command(self, *arguments: str) -> str:
        return run(*self.prefix, self.program, *arguments, "--state-directory", str(self.state))

    def finds(self, name: str) -> bool:
        """Whether a child of this name is on the network."""
        return f'"{name}"' in run(*self.prefix, self.program, "discover", "--json", "--timeout", "2s")

    def watch(self) -> None:
        self.process = subprocess.Popen(
            [*self.prefix, self.program, "watch", "--stats", "--speaker", f"file:{self.speaker_path}",
             "--state-directory", str(self.state)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")  # fmt: skip
        self.speaker = SpeakerFile(self.speaker_path)
        self.output, self.errors = Lines(self.process.stdout), Lines(self.process.stderr)

    def lines(self, since: float = 0) -> list[Line]:
        found = []
        for at, text in list(self.output.lines):
            if at >= since:
                try:
                    found.append(Line(at, json.loads(text)))
                except ValueError:
                    pass
        return found

    @property
    def last(self) -> dict[str, Any]:
        lines = self.lines(time.monotonic() - 2.5)
        return lines[-1].figures if lines else {}

    def close(self) -> None:
        if self.process is not None:
            end(self.process)
            self.speaker.close()


@dataclass
class House:
    """Everything that a row needs."""

    child_program: str
    parent_program: str
    configuration: str = ""
    has_avahi: bool = False
    #: The child stands behind the router's NAT.
    nat: bool = False
    child_environment: dict[str, str] = field(default_factory=dict)
    #: Starts the child's program, which takes its place.
    child_launcher: list[str] = field(default_factory=list)
    #: Called before anything is started.
    prepare: Callable[[House], None] | None = None
    #: What `prepare` has made.
    things: dict[str, Any] = field(default_factory=dict)
    speaker_folder: Path | None = None

    def __enter__(self) -> House:
        self.folder = Path(tempfile.mkdtemp(prefix="cradle-faults-"))
        self.closing: list[Callable[[], Any]] = [lambda: shutil.rmtree(self.folder, ignore_errors=True)]
        try:
            self._open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _open(self) -> None:
        self.network = Network(self.nat)
        self.closing.append(self.network.close)
        if self.prepare:
            self.prepare(self)
        child_prefix, parent_prefix = (self.network.inside(host) for host in (self.network.child, self.network.parent))
        # A bus that does not exist: nothing of this machine's own daemons is met.
        nowhere = {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.folder}/no-bus"}
        environments = [nowhere, nowhere]
        if self.has_avahi:
            self.daemons = [avahi.Avahi(name, prefix) for name, prefix in (("nursery", child_prefix), ("bedroom", parent_prefix))]
            self.closing += [daemon.close for daemon in self.daemons]
            environments = [daemon.environment for daemon in self.daemons]
        self.child = Service(
            self.child_program, self.folder, child_prefix, self.configuration or standard_configuration(),
            {**environments[0], **self.child_environment}, self.child_launcher)  # fmt: skip
        self.closing.append(self.child.close)
        wait_for(f"the child starts ({self.child.log})", 30, lambda: self.child.first("ready", 0))
        self.parent_prefix = [*parent_prefix, "env", *[f"{k}={v}" for k, v in environments[1].items()]]
        self.parent = self.another_parent("parent")

    def another_parent(self, name: str) -> Parent:
        """Paired; watches nothing yet."""
        folder = self.folder / name
        folder.mkdir()
        parent = Parent(self.parent_program, folder, self.parent_prefix, self.speaker_folder or folder)
        self.closing.append(parent.close)
        window = subprocess.Popen(
            [self.child_program, "pair", "--json", *self.child.directories], stdout=subprocess.PIPE, text=True)
        assert window.stdout
        code = json.loads(window.stdout.readline())["code"]
        parent.command("pair", f"{NETWORK}.1:8443", "--code", code)
        window.wait(10)
        window.stdout.close()
        return parent

    def watch(self) -> None:
        """Until sound has come for a while."""
        self.parent.watch()
        wait_for(
            "sound and picture", 30, lambda: [
                line for line in self.parent.lines() if line.figures["framesPerSecond"] > 5
                and (line.figures["audioLevelDb"] or -100) > -40])  # fmt: skip
        time.sleep(2)

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.parent.command("events", "--json").splitlines()]

    def __exit__(self, *_: object) -> None:
        for close in reversed(self.closing):
            try:
                close()
            except Exception as error:  # The rest has to be closed all the same.
                print(f"closing: {error}", file=sys.stderr)


def standard_configuration(camera: str = CAMERA, microphone: str = "test") -> str:
    return f"""name: Nursery
cameras: [{camera}]
microphone: {{device: {microphone}}}
speaker: {{device: "null"}}
"""
