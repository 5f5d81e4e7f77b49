"""A line between two network namespaces on which every packet takes some time: a kernel need not have netem for it.

    long_line.py NAMESPACE DEVICE NAMESPACE DEVICE MILLISECONDS

Each end is a TUN device (tun(4)); this program carries the packets between them until it is killed. Prints a line when the line is there. Needs root.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

# <linux/if_tun.h>, <linux/sched.h>
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
CLONE_NEWNET = 0x40000000


def tun(namespace: str, device: str) -> int:
    """A new TUN device in a namespace."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/var/run/netns/{namespace}", os.O_RDONLY)
    library = ctypes.CDLL(None, use_errno=True)
    try:
        if library.setns(there, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns {namespace}")
        descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
        return descriptor
    finally:
        library.setns(home, CLONE_NEWNET)
        os.close(home)
        os.close(there)


def main() -> None:
    first, first_device, second, second_device, milliseconds = sys.argv[1:]
    delay = float(milliseconds) / 1000
    ends = [tun(first, first_device), tun(second, second_device)]
    waiting: list[deque[tuple[float, bytes]]] = [deque(), deque()]
    print("ready", flush=True)
    while True:
        due = min((queue[0][0] for queue in waiting if queue), default=None)
        timeout = None if due is None else max(0.0, due - time.monotonic())
        readable, _, _ = select.select(ends, [], [], timeout)
        now = time.monotonic()
        for index, descriptor in enumerate(ends):
            if descriptor in readable:
                try:
                    while True:
                        waiting[1 - index].append((now + delay, os.read(descriptor, 65536)))
                except BlockingIOError:
                    pass
                except OSError:
                    return
        for descriptor, queue in zip(ends, waiting):
            while queue and queue[0][0] <= now:
                try:
                    os.write(descriptor, queue.popleft()[1])
                except OSError:
                    # The other end is down, or has no room.
                    pass


if __name__ == "__main__":
    main()
