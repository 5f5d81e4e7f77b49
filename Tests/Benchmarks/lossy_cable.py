#!/usr/bin/env python3
"""Two hosts of our own on this machine, joined by a cable that delays every packet and loses some.

A kernel need not have netem for it: each end of the cable is a TUN device (tun(4)) in a network namespace, and this
program carries the packets. Which are lost is decided by a seeded generator for each direction. Needs root. Prints one
line of JSON when the cable is laid, and what it carried when its standard input ends.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import json
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Interop" / "peers"))
import common  # noqa: E402

DEVICE = "cable"
NETWORK = "10.77.5"
MOST_BYTES = 65536
#: More than this in wait means that nobody carries on: a cable has no room for it.
MOST_WAITING = 4096

# <linux/if_tun.h>, <linux/sched.h>
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
CLONE_NEWNET = 0x40000000


class LossyCable:
    """Runs this program for as long as a `with` lasts."""

    def __init__(self, loss_percent: float, delay_ms: float, seed: int):
        command = [sys.executable, __file__, "--loss", str(loss_percent), "--delay", str(delay_ms), "--seed", str(seed)]
        self.program = common.start_process(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        line = self.program.stdout.readline()
        if not line:
            raise RuntimeError(f"no cable: {self.program.stderr.read()[-500:].strip()}")
        self.hosts: list[dict[str, str]] = json.loads(line)["hosts"]
        self.carried: list[dict[str, Any]] = []

    def address(self, host: int) -> str:
        return self.hosts[host]["address"]

    def prefix(self, host: int) -> list[str]:
        """What to put before a command to have it run on that host."""
        return ["ip", "netns", "exec", self.hosts[host]["name"]]

    def close(self) -> None:
        try:
            output, _ = self.program.communicate(timeout=5)
            self.carried = json.loads(output)["carried"]
        except (subprocess.TimeoutExpired, ValueError, OSError):
            pass
        common.end_process(self.program)

    def __enter__(self) -> "LossyCable":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


# --- The program ---------------------------------------------------------------------------------------------------


def ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


def enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def make_host(name: str, address: str) -> int:
    """A namespace with one end of the cable in it; that end."""
    ip("netns", "add", name)
    with open("/proc/self/ns/net") as ours, open(f"/run/netns/{name}") as theirs:
        enter(theirs.fileno())
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
        enter(ours.fileno())
    ip("-n", name, "link", "set", "lo", "up")
    # One family, so that nothing takes another way.
    ip("-n", name, "link", "set", DEVICE, "addrgenmode", "none")
    ip("-n", name, "addr", "add", f"{address}/24", "dev", DEVICE)
    ip("-n", name, "link", "set", DEVICE, "up")
    return tun


@dataclass
class Direction:
    """One way through the cable. The delay is the same for all packets, so none overtakes another."""

    source: int
    sink: int
    random: random.Random
    packets: int = 0
    lost: int = 0
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)

    def take(self, loss: float, delay: float) -> None:
        while True:
            try:
                packet = os.read(self.source, MOST_BYTES)
            except BlockingIOError:
                return
            self.packets += 1
            if self.random.random() < loss or len(self.waiting) >= MOST_WAITING:
                self.lost += 1
            else:
                self.waiting.append((time.monotonic() + delay, packet))

    def deliver(self) -> None:
        now = time.monotonic()
        while self.waiting and self.waiting[0][0] <= now:
            try:
                os.write(self.sink, self.waiting.popleft()[1])
            except OSError:
                self.lost += 1


def carry(directions: list[Direction], loss: float, delay: float) -> None:
    """Until standard input ends."""
    while True:
        due = min((direction.waiting[0][0] for direction in directions if direction.waiting), default=None)
        timeout = None if due is None else max(0.0, due - time.monotonic())
        ready, _, _ = select.select([0] + [direction.source for direction in directions], [], [], timeout)
        for direction in directions:
            if direction.source in ready:
                direction.take(loss, delay)
            direction.deliver()
        if 0 in ready and not os.read(0, 4096):
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loss", type=float, default=5, help="percent, each way")
    parser.add_argument("--delay", type=float, default=10, help="ms, each way")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    names = [f"cradle-{side}-{os.getpid()}" for side in ("a", "b")]
    addresses = [f"{NETWORK}.{last}" for last in (1, 2)]
    try:
        ends = [make_host(name, address) for name, address in zip(names, addresses)]
        # A network does not become slow because the hosts have much to do.
        os.nice(-10)
        directions = [
            Direction(ends[0], ends[1], random.Random(options.seed)),
            Direction(ends[1], ends[0], random.Random(options.seed + 1)),
        ]
        hosts = [{"name": name, "address": address} for name, address in zip(names, addresses)]
        print(json.dumps({"hosts": hosts}), flush=True)
        carry(directions, options.loss / 100, options.delay / 1000)
        print(json.dumps({"carried": [{"packets": way.packets, "lost": way.lost} for way in directions]}), flush=True)
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


if __name__ == "__main__":
    main()
