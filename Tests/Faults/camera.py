#!/usr/bin/env python3
"""A camera that does what a file says: `run`, `freeze` (the same picture again and again), `black`, `hang` (nothing more),
`exit`. Writes Y4M, or bare pictures where it is called as rpicam-vid is.

    camera.py ORDERS [--raw] [options of rpicam-vid]
"""

import argparse
import os
import sys
import time
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("orders", type=Path)
parser.add_argument("--raw", action="store_true")
parser.add_argument("--width", type=int, default=320)
parser.add_argument("--height", type=int, default=240)
parser.add_argument("--framerate", type=float, default=15)
options, _ = parser.parse_known_args()
width, height = options.width, options.height
row = bytes((16 + x * 3) % 220 for x in range(width + 256))
chroma = bytes([128]) * (width * height // 2)
#: Noise of a sensor in the dark: 16 or 17.
dark = bytes(16 + (value & 1) for value in range(256))


def picture(number: int, order: str) -> bytes:
    if order == "black":
        return os.urandom(width * height).translate(dark) + chroma
    shift = number * 2 % 256
    rows = [row[shift:shift + width]] * (height - 8)
    return b"".join(rows) + os.urandom(width * 8).translate(dark) + chroma


output = sys.stdout.buffer
number = 0
last = b""
frozen = options.orders.with_suffix(".picture")
due = time.monotonic()
while True:
    order = options.orders.read_text().strip()
    if order == "exit":
        sys.exit("the cable is out")
    if order == "hang":
        time.sleep(0.05)
        due = time.monotonic()
        continue
    if number == 0 and not options.raw:
        output.write(f"YUV4MPEG2 W{width} H{height} F{options.framerate:.0f}:1 Ip A1:1 C420jpeg\n".encode())
    if order != "freeze":
        last = picture(number, order)
    elif not last:
        # It shows the same when it is started anew.
        last = frozen.read_bytes() if frozen.exists() else picture(number, order)
    if order == "freeze" and not frozen.exists():
        frozen.write_bytes(last)
    output.write((b"" if options.raw else b"FRAME\n") + last)
    output.flush()
    number += 1
    due += 1 / options.framerate
    time.sleep(max(0, due - time.monotonic()))
