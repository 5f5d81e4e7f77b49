"""The servers that are compared, each started for a while on a free port of this machine, and the viewers for them."""

from __future__ import annotations

import json
import os
import shlex
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, Callable, Self, Sequence

import cores
from cradle import processes
from cradle.child import ChildError, RunningChild
from cradle.process_usage import cpu_seconds, resident_kb
from network.house import HouseNetwork
from network.cable import NetworkCable

HERE = Path(__file__).resolve().parent
#: What runs by itself, in a namespace or beside a browser.
PROGRAMS = HERE / "programs"
PEERS = HERE.parent / "Interop" / "peers"

KBPS = 1500
#: GStreamer's bindings exist for Debian's own Python only.
SYSTEM_PYTHON = "/usr/bin/python3"


class Problem(Exception):
    """Something could not be measured; the text says why."""


class Program:
    """What is measured, in a process of its own; `with` ends it."""

    name = ""

    def __init__(self, command: list[str]):
        directory = Path(processes.temporary_directory("bench"))
        self.log, self.output = directory / "log", directory / "output"
        with self.log.open("wb") as log, self.output.open("wb") as output:
            self.process = processes.start_process(command, stdout=output, stderr=log, stdin=subprocess.DEVNULL)

    def log_end(self) -> str:
        return self.log.read_text("utf-8", "replace")[-1000:].strip()

    def check(self) -> None:
        if self.process.poll() is not None:
            raise Problem(f"{self.name} ended with {self.process.returncode}: {self.log_end()}")

    def cpu_share(self, seconds: float) -> float:
        """Processor time of all threads over a while, as a share of one core."""
        self.check()
        began, before = time.monotonic(), cpu_seconds(self.process.pid)
        time.sleep(seconds)
        self.check()
        return (cpu_seconds(self.process.pid) - before) / (time.monotonic() - began)

    def thread_seconds(self) -> dict[str, float]:
        """Processor time so far by the threads' names; threads of one name together."""
        seconds: dict[str, float] = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                name = (task / "comm").read_text().strip()
                # proc(5): nanoseconds on a processor come first.
                spent = int((task / "schedstat").read_text().split()[0]) / 1e9
            except OSError:
                continue  # it ended just now
            seconds[name] = seconds.get(name, 0) + spent
        return seconds

    def resident_mb(self) -> float:
        """In 10^6 bytes."""
        self.check()
        return resident_kb(self.process.pid) * 1024 / 1e6

    def anonymous_mb(self) -> float:
        """What the program itself made and keeps, in 10^6 bytes: private anonymous memory. proc(5), `Anonymous` of
        smaps_rollup; for who may not read that, RssAnon, the same pages by the kernel's running count."""
        self.check()
        directory = Path(f"/proc/{self.process.pid}")
        try:
            kilobytes = (directory / "smaps_rollup").read_text().split("Anonymous:")[1].split()[0]
        except PermissionError:
            kilobytes = (directory / "status").read_text().split("RssAnon:")[1].split()[0]
        return int(kilobytes) * 1024 / 1e6

    def close(self) -> None:
        processes.end_process(self.process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Server(Program):
    """A WHEP server."""

    host = "127.0.0.1"

    def __init__(self, command: list[str], port: int, token: str = ""):
        self.port = port
        self.token = token
        super().__init__(command)

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}/whep"

    def wait_until_listening(self, seconds: float = 30) -> None:
        self._wait_for(self._is_listening, seconds)

    def wait_until_it_says_so(self, seconds: float = 60) -> None:
        """For one in another namespace, where nobody here can call: it prints that it listens."""
        self._wait_for(lambda: "listening on" in self.output.read_text("utf-8", "replace"), seconds)

    def _is_listening(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def _wait_for(self, is_ready: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not is_ready():
            self.check()
            if time.monotonic() > deadline:
                raise Problem(f"{self.name} does not listen after {seconds:.0f} s: {self.log_end()}")
            time.sleep(0.05)


class MeasuredChild(Server):
    name = "cradle-child"

    def __init__(
        self, program: str, cable: NetworkCable | HouseNetwork | None = None, speaker: str = "none", camera: str = "test",
        kbps: tuple[int, int] = (KBPS, KBPS),
    ):  # fmt: skip
        """On this host, or at the near end of a cable."""
        directory = Path(processes.temporary_directory("child"))
        #: Where parents remember this child: all but the first know its certificate.
        self.known_to = str(directory / "parent")
        self.commands = RunningChild(
            program, "--state-directory", str(directory / "state"), "--runtime-directory", str(directory / "run"))
        configuration = directory / "child.yaml"
        configuration.write_text(
            "name: Bench\n"
            f"cameras:\n  - {{id: cot, device: '{camera}', width: 1280, height: 720, framerate: 30}}\n"
            f"microphone: {{device: test}}\nspeaker: {{device: '{speaker}'}}\n"
            "lights: [{id: nightlight, device: simulated}]\n"
            f"video: {{bitrate-kbps: [{kbps[0]}, {kbps[1]}]}}\n"
        )
        port = processes.reserved_port()
        command = [*self.commands.command("run", "--config", str(configuration)), "--listen"]
        if cable is None:
            super().__init__(command + [f"[::]:{port}"], port)
            self.wait_until_listening()
        else:
            self.host = cable.address(0)
            # A host may be the end of several cables.
            super().__init__(cable.prefix(0) + command + [f"0.0.0.0:{port}"], port)
            self.ask("status")  # until it answers
        self.token = self.another_token("bench")

    def another_token(self, name: str) -> str:
        return str(self.ask("token", "add", "--name", name, "--allow", "view,listen")["token"])

    def ask(self, *command: str) -> dict[str, Any]:
        """Runs a command of the program against this child, until it answers."""
        deadline = time.monotonic() + 10
        while True:
            try:
                return dict(self.commands.ask(*command))
            except ChildError as error:
                self.check()
                if time.monotonic() > deadline:
                    raise Problem(str(error)) from None
                time.sleep(0.1)

    def camera(self) -> dict[str, Any]:
        """Of `status`: encoderSpeed, encoded, keyFrames, targetKbps and others."""
        return dict(self.ask("status")["cameras"][0])

    def estimates(self) -> list[float]:
        """What the path of each viewer carries, as the child thinks, kbit/s."""
        paths = [viewer.get("path") or {} for viewer in self.ask("status")["viewers"]]
        return [float(path["estimateKbps"]) for path in paths if "estimateKbps" in path]

    def encoder_speed(self) -> int:
        return int(self.camera()["encoderSpeed"])


class Webrtcbin(Server):
    """GStreamer; the pictures come live from the same program code that draws them for the child."""

    name = "webrtcbin"

    def __init__(
        self, benchmarks: str, speed: int, draw_only: bool = False, options: tuple[str, ...] = (),
        cable: NetworkCable | None = None,
    ):  # fmt: skip
        port = processes.reserved_port()
        live = f"{shlex.quote(os.path.abspath(benchmarks))} y4m - --live --frames 0"
        command = [SYSTEM_PYTHON, str(PEERS / "webrtcbin_server.py"), "--port", str(port), "--tls", "--live", live]
        command += ["--bitrate", str(KBPS), f"--cpu-used={speed}", "--threads", "1"]
        command += (["--draw-only"] if draw_only else []) + list(options)
        if cable is None:
            super().__init__(command, port)
            self.wait_until_listening()
        else:
            self.host = cable.address(0)
            super().__init__([*cable.prefix(0), *command, "--listen", self.host], port)
            self.wait_until_it_says_so()

    def stats(self) -> dict[str, Any]:
        """`pictures` taken in so far, `viewers`."""
        opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=ssl._create_unverified_context()), urllib.request.ProxyHandler({})
        )
        with opener.open(self.url.removesuffix("/whep") + "/stats", timeout=10) as response:
            return dict(json.load(response))


class AiortcSender(Server):
    name = "aiortc"

    def __init__(self, y4m: str):
        port = processes.reserved_port()
        command = [sys.executable, str(PEERS / "whep_server_aiortc.py"), "--port", str(port), "--tls"]
        super().__init__(command + ["--y4m", y4m, "--bitrate", str(KBPS)], port)
        self.wait_until_listening()


class ChromiumSender(Server):
    """libwebrtc at the near end of a cable; it is free to make the picture smaller."""

    name = "libwebrtc"

    def __init__(self, cable: NetworkCable):
        port = processes.reserved_port()
        self.host = cable.address(0)
        command = [*cable.prefix(0), sys.executable, str(PEERS / "sender_chromium.py"), "--port", str(port), "--tls"]
        command += ["--listen", self.host, "--bitrate", str(KBPS), "--degradation", "balanced"]
        super().__init__(command, port)
        self.wait_until_it_says_so()


class Parent(Program):
    """Our own viewer; it leaves by itself."""

    name = "cradle-parent"

    def __init__(self, program: str, child: MeasuredChild, seconds: float, *arguments: str, prefix: Sequence[str] = ()):
        self.seconds = seconds
        command = [program, "watch", "--whep", child.url, "--token", child.token, "--state-directory", child.known_to]
        super().__init__([*prefix, *command, "--mute", "--stats", "--duration", str(seconds), *arguments])

    def figures(self) -> list[dict[str, Any]]:
        """Waits for the end. One line a second, and the last one is about the whole time."""
        try:
            status = self.process.wait(self.seconds + 30)
        except subprocess.TimeoutExpired:
            raise Problem(f"{self.name} did not end: {self.log_end()}") from None
        lines = [dict(json.loads(line)) for line in self.output.read_text().splitlines()]
        if status != 0 or not lines or lines[-1]["state"] != "ended" or not lines[-1]["framesDecoded"]:
            raise Problem(f"{self.name} ended with {status}: {self.log_end()}")
        return lines


def watch(viewer: str, server: Server, seconds: float, *arguments: str, prefix: Sequence[str] = ()) -> dict[str, Any]:
    """Runs one of the viewers of Tests/Interop/peers to its end; its result."""
    script = PEERS / f"viewer_{viewer}.py"
    if not script.exists():
        raise Problem(f"there is no {script.name}")
    python = SYSTEM_PYTHON if viewer == "gstreamer" else sys.executable
    command = [*prefix, python, str(script), "--url", server.url, "--duration", str(seconds), *arguments]
    if server.token:
        command += ["--token", server.token]
    program = processes.start_process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        output, log = program.communicate(timeout=seconds + 60)
    except subprocess.TimeoutExpired:
        raise Problem(f"{script.name} did not end") from None
    finally:
        processes.end_process(program)
    lines = output.strip().splitlines()
    if not lines:
        raise Problem(f"{script.name} said nothing: {log[-400:].strip()}")
    result = dict(json.loads(lines[-1]))
    if result["error"] or not result["framesDecoded"]:
        raise Problem(f"{script.name} at {server.name}: {result['error'] or 'no picture came'}")
    return result


class Watchers:
    """Light viewers of one server; `with` ends them."""

    def __init__(self, server: Server, command: Sequence[str] = ()):
        """`command`: instead of programs/watchers.py; it speaks the same language."""
        self.server = server
        with cores.watching():
            self.program = processes.start_process(
                command or [sys.executable, str(PROGRAMS / "watchers.py"), "--url", server.url, "--token", server.token], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )

    def tell(self, command: str) -> dict[str, Any]:
        self.program.stdin.write(command + "\n")
        self.program.stdin.flush()
        line = self.program.stdout.readline()
        if not line:
            raise Problem("the light viewers ended")
        reply = dict(json.loads(line))
        if "error" in reply:
            raise Problem(f"a light viewer of {self.server.name}: {reply['error']}")
        return reply

    def grow_to(self, count: int) -> None:
        while self.tell("report")["watching"] < count:
            self.tell("add")

    def packets(self) -> list[int]:
        """Of pictures, received by each viewer so far."""
        return [one.get("video", {}).get("packets", 0) for one in self.tell("report")["received"]]

    def leave(self) -> None:
        self.tell("leave")

    def __enter__(self) -> "Watchers":
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            if self.program.poll() is None:
                self.program.stdin.close()
                self.program.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            pass
        processes.end_process(self.program)
