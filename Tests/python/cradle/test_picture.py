"""Moving test pictures for the comparison servers, from a Y4M file or made here, with the TC32 timecode stamped in."""

from __future__ import annotations

import random
import time

from .meters import TIMECODE_BITS, timecode_block


class Pictures:
    """Some seconds of I420 pictures, each one `bytes`."""

    def __init__(self, width: int, height: int, frames: list[bytes]):
        self.width = width
        self.height = height
        self.frames = frames


def load_pictures(path: str | None, most: int = 150) -> Pictures:
    return read_y4m(path, most) if path else panning_texture()


def read_y4m(path: str, most: int) -> Pictures:
    """Reads 4:2:0 YUV4MPEG2."""
    with open(path, "rb") as file:
        header = file.readline().decode("ascii").split()
        if not header or header[0] != "YUV4MPEG2":
            raise ValueError(f"{path}: not a YUV4MPEG2 file")
        values = {field[0]: field[1:] for field in header[1:]}
        if not values.get("C", "420").startswith("420"):
            raise ValueError(f"{path}: only 4:2:0 is read, not {values['C']}")
        width, height = int(values["W"]), int(values["H"])
        size = width * height * 3 // 2
        frames: list[bytes] = []
        while len(frames) < most and file.readline().startswith(b"FRAME"):
            frame = file.read(size)
            if len(frame) < size:
                break
            frames.append(frame)
    if not frames:
        raise ValueError(f"{path}: holds no picture")
    return Pictures(width, height, frames)


def panning_texture(width: int = 1280, height: int = 720, count: int = 60) -> Pictures:
    """A smooth random texture that pans by two pixels a picture, there and back, and a square that crosses it."""
    source = random.Random(1)
    period = width + 2 * count
    cells = [[source.randrange(40, 216) for _ in range(period // 16 + 2)] for _ in range(height // 16 + 2)]
    rows: list[bytes] = []
    for y in range(height):
        upper, lower, part = cells[y // 16], cells[y // 16 + 1], y % 16
        blend = [(a * (16 - part) + b * part) // 16 for a, b in zip(upper, lower)]
        rows.append(bytes((blend[x // 16] * (16 - x % 16) + blend[x // 16 + 1] * (x % 16)) // 16 for x in range(period)))
    chroma = b"".join(bytes([110 + y * 36 // (height // 2)]) * (width // 2) for y in range(height // 2))
    chroma += b"".join(bytes(110 + x * 36 // (width // 2) for x in range(width // 2)) for _ in range(height // 2))
    frames = []
    for number in range(count):
        offset = 2 * min(number, count - number)
        luma = bytearray(b"".join(row[offset : offset + width] for row in rows))
        left = (number * 20) % (width - 64)
        for y in range(height // 2, height // 2 + 64):
            luma[y * width + left : y * width + left + 64] = b"\xdc" * 64
        frames.append(bytes(luma) + chroma)
    return Pictures(width, height, frames)


class TestPicture:
    """Hands out the pictures in a loop with the time of day in their top rows."""

    def __init__(self, pictures: Pictures):
        self.width = width = pictures.width
        self.height = height = pictures.height
        self.side = side = timecode_block(width)
        self.strip_bytes = 2 * side * width
        ones, zeros = b"\xeb" * side, b"\x10" * side
        self._blocks = (zeros, ones)
        self._tails: list[list[bytes]] = []
        self._rests: list[bytes] = []
        for frame in pictures.frames:
            frame = self._grey_chroma(frame, width, height)
            self._tails.append([frame[y * width + TIMECODE_BITS * side : (y + 1) * width] for y in range(2 * side)])
            self._rests.append(frame[self.strip_bytes :])

    def _grey_chroma(self, frame: bytes, width: int, height: int) -> bytes:
        data = bytearray(frame)
        half = TIMECODE_BITS * self.side // 2
        for plane in (width * height, width * height * 5 // 4):
            for y in range(self.side):
                start = plane + y * (width // 2)
                data[start : start + half] = b"\x80" * half
        return bytes(data)

    def stamped(self, number: int) -> bytes:
        """Picture `number` of the loop with the present unix time in ms modulo 2^32."""
        index = number % len(self._rests)
        now = int(time.time() * 1000) % 2**32
        bits = [now >> (TIMECODE_BITS - 1 - bit) & 1 for bit in range(TIMECODE_BITS)]
        row = b"".join(self._blocks[bit] for bit in bits)
        check = b"".join(self._blocks[1 - bit] for bit in bits)
        tails = self._tails[index]
        strip = [row + tail for tail in tails[: self.side]] + [check + tail for tail in tails[self.side :]]
        return b"".join(strip) + self._rests[index]
