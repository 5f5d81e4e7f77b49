#!/usr/bin/env python3
"""Two hosts of our own on this machine, joined by a network as bad as one asks for: models.py says how bad.

A kernel need not have netem for it: each end of the cable is a TUN device (tun(4)) in a network namespace, and this
program carries the packets. Both hosts have a default route, without which libnice gathers for ever and Chromium nothing;
what is not for the other host goes nowhere. Needs root.

Prints one line of JSON when the cable is laid. A line on its standard input begins the network anew, its clock and its
draws; with `--clean` it only delays until then. When the input ends, it prints what it carried since.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import json
import os
import select
import struct
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from cradle import processes
from network.models import Network, Way

DEVICE = "cable"
#: The network is this and a number.
NETWORKS = "10.77"
FIRST_NETWORK = 5
MOST_BYTES = 65536
#: More than this in wait means that nobody carries on: a cable has no room for it.
MOST_WAITING = 4096

# <linux/if_tun.h>, <linux/sched.h>
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
CLONE_NEWNET = 0x40000000


class NetworkCable:
    """Runs this program for as long as a `with` lasts."""

    def __init__(
        self, network: Network, seed: int, is_clean_at_first: bool = False, beside: "NetworkCable | None" = None, number: int = 0
    ):
        """`beside` another cable, whose host 0 is this one's, too; each of them has a number of its own."""
        folder = Path(__file__).resolve().parent.parent
        command = ["env", f"PYTHONPATH={folder}", sys.executable, "-m", "network.cable", "--network", json.dumps(network.document()), "--seed", str(seed)]
        command += ["--number", str(FIRST_NETWORK + number)]
        if beside is not None:
            command += ["--near", beside.hosts[0]["name"]]
        self.program = processes.start_process(
            command + (["--clean"] if is_clean_at_first else []),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
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

    def start(self) -> float:
        """From now on the network is what was asked for, from its first packet and its first second. Unix time of it."""
        self.program.stdin.write("start\n")
        self.program.stdin.flush()
        line = self.program.stdout.readline()
        if not line:
            raise RuntimeError(f"the cable is gone: {self.program.stderr.read()[-500:].strip()}")
        return float(json.loads(line)["started"])

    def close(self) -> None:
        try:
            output, _ = self.program.communicate(timeout=5)
            self.carried = json.loads(output)["carried"]
        except (subprocess.TimeoutExpired, ValueError, OSError):
            pass
        processes.end_process(self.program)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


# --- The program ---------------------------------------------------------------------------------------------------


def enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def make_host(name: str) -> None:
    """A namespace of its own."""
    ip("netns", "add", name)
    ip("-n", name, "link", "set", "lo", "up")


def attach(name: str, device: str, address: str, is_only: bool) -> int:
    """Puts an end of the cable into a namespace; that end. `is_only`: everything else is beyond this one, too."""
    with open("/proc/self/ns/net") as ours, open(f"/run/netns/{name}") as theirs:
        enter(theirs.fileno())
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
        enter(ours.fileno())
    # One family, so that nothing takes another way.
    ip("-n", name, "link", "set", device, "addrgenmode", "none")
    ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
    ip("-n", name, "link", "set", device, "up")
    if is_only:
        ip("-n", name, "route", "add", "default", "dev", device)
    return tun


def is_for(network: bytes, packet: bytes) -> bool:
    """RFC 791, 3.1: version, and the destination at 16."""
    return len(packet) >= 20 and packet[0] >> 4 == 4 and packet[16:19] == network


@dataclass
class Direction:
    """One way through the cable. None overtakes another."""

    source: int
    sink: int
    #: The first three bytes of addresses.
    network: bytes
    way: Way
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque)

    def take(self, began: float) -> None:
        while True:
            try:
                packet = os.read(self.source, MOST_BYTES)
            except BlockingIOError:
                return
            if not is_for(self.network, packet):
                continue
            # RFC 791: the protocol; 6 is TCP, by which the call sends nothing once it runs.
            arrives = self.way.arrives_at(time.monotonic() - began, len(packet), is_beside=packet[9] == 6)
            if arrives is None:
                continue
            if len(self.waiting) >= MOST_WAITING:
                self.way.lost["no room"] += 1
            else:
                self.waiting.append((began + arrives, packet))

    def deliver(self) -> None:
        now = time.monotonic()
        while self.waiting and self.waiting[0][0] <= now:
            try:
                os.write(self.sink, self.waiting.popleft()[1])
            except OSError:
                self.way.lost["host"] += 1


def carry(ends: list[int], addresses: bytes, network: Network, seed: int, is_clean_at_first: bool) -> list[Direction]:
    """Until standard input ends."""
    ways = Way.pair(Network(delay_ms=network.delay_ms) if is_clean_at_first else network, seed)
    directions = [Direction(ends[0], ends[1], addresses, ways[0]), Direction(ends[1], ends[0], addresses, ways[1])]
    began = time.monotonic()
    while True:
        due = min((direction.waiting[0][0] for direction in directions if direction.waiting), default=None)
        timeout = None if due is None else max(0.0, due - time.monotonic())
        ready, _, _ = select.select([0] + [direction.source for direction in directions], [], [], timeout)
        for direction in directions:
            if direction.source in ready:
                direction.take(began)
            direction.deliver()
        if 0 in ready:
            line = os.read(0, 4096)
            if not line:
                return directions
            began = time.monotonic()
            for direction, way in zip(directions, Way.pair(network, seed)):
                direction.way = way
            print(json.dumps({"started": time.time()}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", type=json.loads, default={}, help="JSON: fields of network.models.Network")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clean", action="store_true", help="nothing but the delay until `start`")
    parser.add_argument("--number", type=int, default=FIRST_NETWORK, help="third byte of the network's addresses")
    parser.add_argument("--near", metavar="NAMESPACE", help="a host that is there already, instead of a new one")
    options = parser.parse_args()
    network = Network.of(options.network)
    made = [f"cradle-{side}-{os.getpid()}" for side in ("a", "b")]
    names = [options.near, made[1]] if options.near else made
    addresses = [f"{NETWORKS}.{options.number}.{last}" for last in (1, 2)]
    device = DEVICE if options.number == FIRST_NETWORK else f"{DEVICE}{options.number}"
    try:
        for name in names:
            if name != options.near:
                make_host(name)
        ends = [attach(name, device, address, name != options.near) for name, address in zip(names, addresses)]
        # A network does not become slow because the hosts have much to do.
        os.nice(-10)
        hosts = [{"name": name, "address": address} for name, address in zip(names, addresses)]
        print(json.dumps({"hosts": hosts}), flush=True)
        directions = carry(ends, bytes(map(int, addresses[0].split(".")))[:3], network, options.seed, options.clean)
        print(json.dumps({"carried": [direction.way.document() for direction in directions]}), flush=True)
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


if __name__ == "__main__":
    main()
