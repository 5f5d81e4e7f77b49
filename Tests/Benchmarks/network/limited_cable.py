#!/usr/bin/env python3
"""Two hosts of our own on this machine, joined by a cable that the kernel itself limits: a policer (`nft limit`, which drops what
is too much) or a queue (`tc tbf`), and somebody's downloads beside the call. Nothing is delayed; no packet leaves the machine.
Needs root.

Offloads are off at both ends, so that a batch does not reach a limit as one packet.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from dataclasses import asdict, dataclass
from typing import Any, Self

from network.downloads import Downloads

NETWORK = "10.77.9"
DEVICE = "cable"
OFFLOADS = ("gso", "tso", "gro", "tx-udp-segmentation")


@dataclass(frozen=True)
class Limit:
    """What the way to the viewer carries; the way back is free."""

    #: (seconds since the start, kbit/s from then on), in order.
    rates: tuple[tuple[float, float], ...]
    #: Of a policer, bytes; none: a queue instead.
    bucket: int | None = None
    #: Of `tc tbf`: its longest wait.
    queue_ms: int = 400
    #: Downloads beside the call, by TCP with CUBIC, and when they begin, seconds since the start.
    flows: int = 0
    flows_begin: float = 8

    def document(self) -> dict[str, Any]:
        return asdict(self)


def ip(*arguments: str, fails: bool = False) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode != 0 and not fails:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


class LimitedCable:
    """As `cable.NetworkCable`: `with` lays it, `start` limits it."""

    def __init__(self, limit: Limit):
        self.limit = limit
        names = [f"cradle-l{side}-{os.getpid()}" for side in "ab"]
        self.hosts = [{"name": name, "address": f"{NETWORK}.{number}"} for number, name in enumerate(names, 1)]
        self.carried: list[dict[str, Any]] = []
        #: Unix time of the limit's beginning.
        self.began = 0.0
        self.ended = threading.Event()
        self.threads: list[threading.Thread] = []
        try:
            for name in names:
                ip("netns", "add", name)
                ip("-n", name, "link", "set", "lo", "up")
            ip("-n", names[0], "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", names[1])
            for host in self.hosts:
                self._in(host, "ethtool", "-K", DEVICE, *(word for name in OFFLOADS for word in (name, "off")))
                ip("-n", host["name"], "link", "set", DEVICE, "addrgenmode", "none")
                ip("-n", host["name"], "addr", "add", f"{host['address']}/24", "dev", DEVICE)
                ip("-n", host["name"], "link", "set", DEVICE, "up")
                ip("-n", host["name"], "route", "add", "default", "dev", DEVICE)
        except BaseException:
            self.close()
            raise

    def address(self, host: int) -> str:
        return self.hosts[host]["address"]

    def prefix(self, host: int) -> list[str]:
        """What to put before a command to have it run on that host."""
        return ["ip", "netns", "exec", self.hosts[host]["name"]]

    def start(self) -> float:
        """From now on it is limited. Unix time of it."""
        self.began = time.time()
        self._count()
        self._apply(self.limit.rates[0][1], is_first=True)
        for work in (self._keep_time, self._sample):
            self.threads.append(threading.Thread(target=work, args=(time.monotonic(),), daemon=True))
            self.threads[-1].start()
        return self.began

    def since(self, unix_time: float) -> list[dict[str, Any]]:
        """What was carried, with the seconds since then."""
        return [second | {"second": second["second"] - (unix_time - self.began)} for second in self.carried]

    def close(self) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join(10)
        for host in self.hosts:
            ip("netns", "delete", host["name"], fails=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # --- The limit ---

    def _in(self, host: dict[str, str], *command: str, given: str | None = None) -> str:
        done = subprocess.run(["ip", "netns", "exec", host["name"], *command], input=given, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def _count(self) -> None:
        """At the viewer's end, what has come of each kind, and what the limit drops of it."""
        counters = "".join(f"counter {kind}_{what} {{}}\n" for kind in ("udp", "tcp") for what in ("all", "dropped"))
        rules = "".join(f"meta l4proto {kind} counter name {kind}_all\n" for kind in ("udp", "tcp"))
        drops = "".join(f"meta l4proto {kind} counter name {kind}_dropped\n" for kind in ("udp", "tcp"))
        self._in(
            self.hosts[1], "nft", "-f", "-",
            given=f"table ip cable {{\n{counters}\nchain drops {{\n{drops}drop\n}}\n"
            f"chain policer {{\n}}\nchain entry {{\ntype filter hook prerouting priority -300;\niifname != {DEVICE} return\n{rules}jump policer\n}}\n}}\n",
        )  # fmt: skip

    def _apply(self, kbps: float, is_first: bool = False) -> None:
        if self.limit.bucket is None:
            self._in(
                self.hosts[0], "tc", "qdisc", "replace", "dev", DEVICE, "root", "tbf", "rate", f"{kbps:.0f}kbit",
                "burst", "8kb", "latency", f"{self.limit.queue_ms}ms",
            )  # fmt: skip
        else:
            rule = f"limit rate over {kbps * 125:.0f} bytes/second burst {self.limit.bucket} bytes jump drops"
            self._in(self.hosts[1], "nft", "-f", "-", given=f"flush chain ip cable policer\nadd rule ip cable policer {rule}\n")

    def _keep_time(self, began: float) -> None:
        with Downloads(self, self.limit.flows, self.limit.flows_begin):
            for at, kbps in self.limit.rates[1:]:
                if self.ended.wait(max(0.0, began + at - time.monotonic())):
                    return
                self._apply(kbps)
            self.ended.wait()

    def _sample(self, began: float) -> None:
        """Each second, of all that came and all that was dropped: what was new."""
        before: dict[str, int] = {}
        second = 0
        while not self.ended.wait(max(0.0, began + second - time.monotonic())):
            now = {}
            for entry in json.loads(self._in(self.hosts[1], "nft", "-j", "list", "counters"))["nftables"]:
                if "counter" in entry:
                    counter = entry["counter"]
                    now |= {f"{counter['name']}": counter["packets"], f"{counter['name']}_bytes": counter["bytes"]}
            if before:
                self.carried.append({"second": second - 1} | {name: now[name] - before[name] for name in now})
            before = now
            second += 1
