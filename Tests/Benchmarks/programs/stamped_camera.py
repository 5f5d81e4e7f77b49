"""Stands in for rpicam-vid: a moving picture with the time at which it was ready, as raw YUV420 on standard output."""

from __future__ import annotations

import argparse
import sys
import time

from cradle.test_picture import TestPicture, load_pictures, panning_texture


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", metavar="Y4M")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=720)
    parser.add_argument("--framerate", type=float, default=30)
    options, _ = parser.parse_known_args()
    pictures = load_pictures(options.pictures) if options.pictures else panning_texture(options.width, options.height)
    picture, began, number = TestPicture(pictures), time.monotonic(), 0
    while True:
        time.sleep(max(0.0, began + number / options.framerate - time.monotonic()))
        sys.stdout.buffer.write(picture.stamped(number))
        sys.stdout.buffer.flush()
        number += 1


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        pass
