"""A path between two hosts whose rate changes: a UDP relay on this machine with a queue in the direction to the viewer."""

from __future__ import annotations

import collections
import select
import socket
import threading
import time

#: Bytes of UDP and IPv4 around each payload.
HEADERS = 28
MOST_BYTES = 65536


class NarrowPath(threading.Thread):
    """Relays between the one viewer that sends to `port` and the child's UDP port.

    `steps` are (seconds from the first datagram, kbit/s to the viewer); what waits longer than `queue` is lost.
    """

    def __init__(self, child: tuple[str, int], steps: list[tuple[float, int]], queue: float = 0.25):
        super().__init__(daemon=True)
        self.child = child
        self.steps = steps
        self.queue = queue
        self.lost = 0
        self.inner = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.outer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for one in (self.inner, self.outer):
            one.bind(("127.0.0.1", 0))
            one.setblocking(False)
        self.port = self.outer.getsockname()[1]

    def run(self) -> None:
        began = None
        viewer = None
        waiting: collections.deque[tuple[float, bytes]] = collections.deque()
        free_at = 0.0
        while True:
            patience = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 1.0
            ready, _, _ = select.select([self.inner, self.outer], [], [], patience)
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                self.outer.sendto(waiting.popleft()[1], viewer)
            if self.outer in ready:
                data, viewer = self.outer.recvfrom(MOST_BYTES)
                began = began or now
                self.inner.sendto(data, self.child)
            if self.inner in ready:
                data = self.inner.recv(MOST_BYTES)
                rate = [kbps for at, kbps in self.steps if began is not None and now - began >= at][-1]
                free_at = max(free_at, now) + (len(data) + HEADERS) * 8 / (rate * 1000)
                if free_at - now > self.queue:
                    free_at -= (len(data) + HEADERS) * 8 / (rate * 1000)
                    self.lost += 1
                elif viewer is not None:
                    waiting.append((free_at, data))


def parse(text: str) -> NarrowPath:
    """`MEDIAPORT@0:3000,8:300,25:3000`."""
    port, _, steps = text.partition("@")
    pairs = [step.split(":") for step in steps.split(",")]
    return NarrowPath(("127.0.0.1", int(port)), [(float(at), int(kbps)) for at, kbps in pairs])
