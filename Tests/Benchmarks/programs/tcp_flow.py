#!/usr/bin/env python3
"""Somebody's download: TCP with the kernel's CUBIC, as fast as it goes, until it is ended."""

from __future__ import annotations

import argparse
import socket
import time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=("send", "receive"))
    parser.add_argument("--address", required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    place = (options.address, options.port)
    if options.role == "receive":
        with socket.create_server(place) as server:
            connection, _ = server.accept()
            while connection.recv(1 << 16):
                pass
        return
    deadline = time.monotonic() + 10
    while True:
        try:
            connection = socket.create_connection(place)
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    while True:
        connection.sendall(bytes(1 << 16))


if __name__ == "__main__":
    main()
