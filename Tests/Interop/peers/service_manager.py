"""Plays the service manager of sd_notify(3) for a program: starts it, listens to what it tells, makes single threads of
it stand still (ptrace(2)) to see whether its watchdog notices, and stops it. Prints one JSON object. Standard library
only; the program's words {port} and {folder} are replaced.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Callable, Iterator

from cradle import processes

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WAIT_ALL = 0x40000000  # __WALL: threads too
#: For what a loaded machine does sooner or later.
PATIENCE = 90.0


class Service:
    def __init__(self, command: list[str], watchdog: float, folder: Path):
        self.name = f"@cradle-service-manager-{os.getpid()}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + self.name[1:])
        self.port = processes.reserved_port()
        self.told: list[dict[str, str]] = []
        words = [word.replace("{port}", str(self.port)).replace("{folder}", str(folder)) for word in command]
        environment = {**os.environ, "NOTIFY_SOCKET": self.name}
        if watchdog:
            environment["WATCHDOG_USEC"] = str(int(watchdog * 1e6))
        self.log = open(folder / "log", "wb")
        self.started = time.monotonic()
        self.process = subprocess.Popen(words, env=environment, stderr=self.log)

    def receive(self, timeout: float) -> dict[str, str] | None:
        """The next datagram's assignments; None when none came."""
        self.socket.settimeout(max(0.001, timeout))
        try:
            text = self.socket.recv(65536).decode()
        except TimeoutError:
            return None
        message = dict(line.split("=", 1) for line in text.splitlines())
        self.told.append(message)
        return message

    def messages(self) -> Iterator[dict[str, str]]:
        """What comes, until PATIENCE is at its end or the program is."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            message = self.receive(0.2)
            if message is not None:
                yield message
            elif self.process.poll() is not None:
                return

    def messages_for(self, seconds: float) -> Iterator[dict[str, str]]:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            message = self.receive(0.1)
            if message is not None:
                yield message

    def wait_for(self, wanted: Callable[[dict[str, str]], bool]) -> bool:
        return any(wanted(message) for message in self.messages())

    def accepts(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()
        except OSError:
            return False
        return True

    def is_silent_for(self, seconds: float) -> bool:
        """Whether there comes a time of `seconds` without a ping."""
        begin = last = time.monotonic()
        while time.monotonic() - begin < PATIENCE:
            message = self.receive(0.1)
            if message is not None and "WATCHDOG" in message:
                last = time.monotonic()
            if time.monotonic() - last > seconds:
                return True
        return False

    def memory_kilobytes(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


class FrozenThread:
    """One thread stands still, all others go on; `name` is how its name begins."""

    libc = ctypes.CDLL(None, use_errno=True)

    def __init__(self, process: int, name: str):
        threads = Path(f"/proc/{process}/task").iterdir()
        self.thread = next(int(t.name) for t in threads if (t / "comm").read_text().startswith(name))

    def __enter__(self) -> FrozenThread:
        self.call(PTRACE_SEIZE)
        self.call(PTRACE_INTERRUPT)
        os.waitpid(self.thread, WAIT_ALL)
        return self

    def reap(self) -> None:
        try:
            os.waitpid(self.thread, WAIT_ALL | os.WNOHANG)
        except ChildProcessError:
            pass

    def __exit__(self, *_: Any) -> None:
        # The process may have ended in the meantime.
        if Path(f"/proc/{self.thread}").exists():
            self.call(PTRACE_DETACH)

    def call(self, request: int) -> None:
        null = ctypes.c_void_p(0)
        if self.libc.ptrace(ctypes.c_long(request), ctypes.c_long(self.thread), null, null) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")


def play(service: Service, options: Any) -> dict[str, Any]:
    result: dict[str, Any] = {"ready": service.wait_for(lambda message: message.get("READY") == "1")}
    result["told"] = service.told
    if not result["ready"]:
        return result
    result["readySeconds"] = round(time.monotonic() - service.started, 3)
    result["accepts"] = service.accepts()
    if options.watchdog:
        result["pings"] = sum(service.wait_for(lambda message: "WATCHDOG" in message) for _ in range(3))
    result["frozen"] = []
    for name in options.freeze:
        frozen: dict[str, Any] = {"thread": name}
        with FrozenThread(service.process.pid, name):
            frozen["silent"] = service.is_silent_for(options.watchdog)
            frozen["status"] = service.told[-1].get("STATUS")
        frozen["back"] = service.wait_for(lambda message: "WATCHDOG" in message)
        result["frozen"].append(frozen)
    if options.hangup:
        # Twice, the first time with a configuration that is not valid: nothing changes.
        configuration = Path(options.hangup)
        good = configuration.read_text()
        configuration.write_text(good + "\nnonsense: 1\n")
        service.process.send_signal(signal.SIGHUP)
        result["stayed"] = not any("RELOADING" in message or "STOPPING" in message for message in service.messages_for(2))
        configuration.write_text(good.replace("Before", "After"))
        service.process.send_signal(signal.SIGHUP)
        result["reloading"] = service.wait_for(lambda message: message.get("RELOADING") == "1")
        result["ready"] = service.wait_for(lambda message: message.get("READY") == "1")
        result["accepts"] = service.accepts()
    time.sleep(options.rest)
    result["memoryKilobytes"] = service.memory_kilobytes()
    hanging = FrozenThread(service.process.pid, options.hang) if options.hang else nullcontext()
    begin = time.monotonic()
    with hanging as thread:
        service.process.send_signal(signal.SIGTERM)
        while service.process.poll() is None and time.monotonic() - begin < PATIENCE:
            # Who holds a thread has to see it end before the process is over.
            if thread is not None:
                thread.reap()
            time.sleep(0.001)
    result["exit"] = service.process.poll()
    result["stopSeconds"] = round(time.monotonic() - begin, 3)
    for _ in service.messages():
        pass
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--watchdog", type=float, default=0, help="seconds; 0: none")
    parser.add_argument("--freeze", action="append", default=[], help="how a thread's name begins")
    parser.add_argument("--hang", help="how the name of a thread begins that stands still during the stop")
    parser.add_argument("--hangup", help="its configuration: SIGHUP comes twice, and the name in it changes in between")
    parser.add_argument("--rest", type=float, default=0, help="seconds before the memory is read and the stop")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cradle-service-") as folder:
        service = Service(options.command, options.watchdog, Path(folder))
        try:
            result = play(service, options)
        finally:
            service.process.kill()
            service.process.wait()
            service.log.close()
        result["log"] = (Path(folder) / "log").read_text(errors="replace")
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
