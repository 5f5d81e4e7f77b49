"""Takes the VP8 frames out of a WebM recording, for programs that read IVF from a pipe."""

from __future__ import annotations

import struct
from typing import Iterator

# RFC 9559 section 5 and RFC 8794: what holds others, and what is looked for.
SEGMENT, CLUSTER, TRACKS, TRACK_ENTRY = 0x18538067, 0x1F43B675, 0x1654AE6B, 0xAE
TRACK_NUMBER, CODEC_ID, SIMPLE_BLOCK = 0xD7, 0x86, 0xA3

#: A time base of IVF. The pictures are numbered: whoever reads them sets the pace.
FRAME_RATE = 30


def vp8_frames(data: bytes) -> list[bytes]:
    frames: list[bytes] = []
    number = video = None
    for kind, body in _elements(data):
        if kind == TRACK_NUMBER:
            number = body[-1]
        elif kind == CODEC_ID and body.startswith(b"V_VP8"):
            video = number
        elif kind == SIMPLE_BLOCK and body[0] & 0x7F == video:
            frames.append(bytes(body[4:]))  # track, time and flags come before; tracks below 128 take one byte
    return frames


def ivf_header(width: int, height: int, frames: int) -> bytes:
    return struct.pack("<4sHH4sHHIIII", b"DKIF", 0, 32, b"VP80", width, height, FRAME_RATE, 1, frames, 0)


def ivf_frame(number: int, frame: bytes) -> bytes:
    return struct.pack("<IQ", len(frame), number) + frame


def picture_size(key_frame: bytes) -> tuple[int, int]:
    """RFC 6386 section 9.1."""
    width, height = struct.unpack_from("<HH", key_frame, 6)
    return width & 0x3FFF, height & 0x3FFF


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    """All elements in the order of the file. Masters are entered, so that unknown sizes do no harm."""
    at = 0
    while at < len(data):
        kind, at = _number(data, at, keeps_marker=True)
        size, at = _number(data, at, keeps_marker=False)
        if kind in (SEGMENT, CLUSTER, TRACKS, TRACK_ENTRY):
            continue
        yield kind, data[at : at + size]
        at += size


def _number(data: bytes, at: int, keeps_marker: bool) -> tuple[int, int]:
    """RFC 8794 section 4."""
    first = data[at]
    if first == 0:
        raise ValueError(f"not a WebM file: byte {at}")
    length = 9 - first.bit_length()
    value = int.from_bytes(data[at : at + length], "big")
    return value if keeps_marker else value & ~(1 << 7 * length), at + length
