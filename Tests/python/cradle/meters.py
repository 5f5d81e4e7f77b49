"""Judges what was received: pictures, the timecode burned into them, freezes, and the test tone.

Standard library only. The browsers' page delivers the same records, so that all viewers are judged by the same lines.
"""

from __future__ import annotations

import array
import math
import struct
import zlib
from typing import Any, Sequence

SAMPLE_RATE = 48000
#: TC32: the unix time in ms modulo 2^32 as 32 blocks, most significant bit first.
TIMECODE_BITS = 32
#: Sound is judged on at most this much of it, which keeps plain Python quick.
MOST_JUDGED_SECONDS = 20


def timecode_block(width: int) -> int:
    """The side of one block in pixels."""
    return 2 * (width // 80)


def read_timecode(luma: Any, stride: int, width: int) -> int | None:
    """The timecode in the top rows of a luma plane, or none when block and check do not contradict each other."""
    side = timecode_block(width)
    if side == 0:
        return None
    value = 0
    for bit in range(TIMECODE_BITS):
        x = bit * side + side // 2
        above = luma[(side // 2) * stride + x] + luma[(side // 2 - 1) * stride + x - 1]
        below = luma[(side + side // 2) * stride + x] + luma[(side + side // 2 - 1) * stride + x - 1]
        if abs(above - below) < 120:
            return None
        value = value << 1 | (1 if above > below else 0)
    return value


def age_of(timecode: int, wall_ms: float) -> float:
    """Milliseconds since the timecode was stamped; the clock's 2^32 wrap is taken out."""
    age = (wall_ms - timecode) % 2**32
    return age - 2**32 if age > 2**31 else age


class ChangeDetector:
    """Tells pictures that differ to the eye from those that only differ by coding noise."""

    def __init__(self) -> None:
        self.reference: bytes = b""

    def changed(self, luma: Any, stride: int, width: int, height: int) -> bool:
        """Compares a sample of the luma below the timecode with that of the last picture that was different."""
        top = 2 * timecode_block(width) + 2
        rows = range(top, height, max(1, height // 36))
        sample = b"".join(bytes(luma[y * stride : y * stride + width : max(1, width // 64)]) for y in rows)
        if len(sample) == len(self.reference):
            difference = sum(abs(a - b) for a, b in zip(sample, self.reference))
            if difference < len(sample):  # less than one step of grey on average
                return False
        self.reference = sample
        return True


def percentile(values: Sequence[float], share: float) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)


class PictureMeter:
    """Gathers one record a decoded picture and sums them up into the result."""

    def __init__(self) -> None:
        self.times_ms: list[float] = []
        self.latencies: list[float] = []
        self.distinct = 0
        self.width = 0
        self.height = 0
        self._changes = ChangeDetector()

    def add(self, wall_ms: float, luma: Any, stride: int, width: int, height: int) -> None:
        timecode = read_timecode(luma, stride, width) if stride * timecode_block(width) * 2 <= len(luma) else None
        changed = self._changes.changed(luma, stride, width, height)
        self.add_record(wall_ms, timecode, changed, width, height)

    def add_record(self, wall_ms: float, timecode: int | None, changed: bool, width: int, height: int) -> None:
        self.times_ms.append(wall_ms)
        if timecode is not None:
            self.latencies.append(age_of(timecode, wall_ms))
        self.distinct += 1 if changed else 0
        self.width, self.height = width, height

    def freezes(self, ended_ms: float | None) -> list[float]:
        """The times for which the picture stood still: webrtc-stats, freezeCount, over the last 30 intervals."""
        times = self.times_ms + ([ended_ms] if ended_ms is not None else [])
        found: list[float] = []
        recent: list[float] = []
        for before, after in zip(times, times[1:]):
            interval = after - before
            if recent:
                mean = sum(recent) / len(recent)
                if interval > max(3 * mean, mean + 150):
                    found.append(interval)
            recent = (recent + [interval])[-30:]
        return found

    def report(self, result: dict[str, Any], ended_ms: float | None = None) -> None:
        times = self.times_ms
        freezes = self.freezes(ended_ms)
        elapsed = times[-1] - times[0] if len(times) > 1 else 0.0
        result.update(
            framesDecoded=max(result["framesDecoded"], len(times)),
            framesPerSecond=round((len(times) - 1) * 1000 / elapsed, 2) if elapsed else 0.0,
            width=self.width,
            height=self.height,
            picturesChanged=self.distinct > 1,
            distinctPictures=self.distinct,
            freezeCount=len(freezes),
            freezeMs=round(sum(freezes), 1),
            longestFreezeMs=round(max(freezes, default=0.0), 1),
            latencyMs={
                "p50": percentile(self.latencies, 0.5),
                "p95": percentile(self.latencies, 0.95),
                "count": len(self.latencies),
            },
        )


# --- Sound ---------------------------------------------------------------------------------------------------------


def goertzel(samples: Sequence[int], start: int, count: int, frequency: float) -> float:
    """The amplitude (0 to 1, full scale 1) of one frequency in a window of 16-bit samples."""
    coefficient = 2 * math.cos(2 * math.pi * frequency / SAMPLE_RATE)
    first = second = 0.0
    for index in range(start, start + count):
        first, second = samples[index] + coefficient * first - second, first
    power = max(0.0, first * first + second * second - coefficient * first * second)
    return 2 * math.sqrt(power) / count / 32768


def decibels(amplitude: float) -> float:
    return 20 * math.log10(amplitude) if amplitude > 1e-6 else -120.0


def _pitch(samples: Sequence[int], start: int, count: int) -> float | None:
    """Frequency by rising zero crossings, each placed between its two samples."""
    crossings = []
    previous = samples[start]
    for index in range(start + 1, start + count):
        sample = samples[index]
        if previous < 0 <= sample:
            crossings.append(index - 1 + previous / (previous - sample))
        previous = sample
    if len(crossings) < 3:
        return None
    return (len(crossings) - 1) * SAMPLE_RATE / (crossings[-1] - crossings[0])


class ToneMeter:
    """Collects 48 kHz mono and says which tone is in it, how loud, whether the beep came and whether it had holes."""

    WINDOW = SAMPLE_RATE // 50  # 20 ms: a whole number of periods of both tones

    def __init__(self) -> None:
        self.samples = array.array("h")
        self.total = 0

    def add(self, pcm: bytes, channels: int = 1) -> None:
        """Interleaved signed 16-bit samples in the machine's byte order."""
        block = array.array("h")
        block.frombytes(pcm)
        if channels > 1:
            block = block[::channels]
        self.total += len(block)
        if len(self.samples) < MOST_JUDGED_SECONDS * SAMPLE_RATE:
            self.samples.extend(block)

    def report(self, audio: dict[str, Any]) -> None:
        """`toneDbfs` is relative to a full-scale sine; `continuous` says that no 40 ms were silent after the start."""
        samples, window = self.samples, self.WINDOW
        starts = range(0, len(samples) - window + 1, window)
        loud = [max(map(abs, samples[start : start + window])) > 32 for start in starts]
        if True not in loud:
            return
        # The first 200 ms hold the decoder's and the jitter buffer's start.
        begin = loud.index(True) + 10
        holes = sum(1 for one, two in zip(loud[begin:], loud[begin + 1 :]) if not one and not two)
        audio["continuous"] = holes == 0 and len(loud) - begin >= 25
        audio["seconds"] = round(self.total / SAMPLE_RATE, 2)
        steady: list[tuple[float, float]] = []
        beep_run = longest = 0
        for index in range(begin, len(loud)):
            start = index * window
            beep = goertzel(samples, start, window, 2000)
            tone = goertzel(samples, start, window, 1000)
            beep_run = beep_run + 1 if beep > 0.01 and beep > tone / 2 else 0
            longest = max(longest, beep_run)
            pitch = _pitch(samples, start, window)
            if loud[index] and beep_run == 0 and pitch is not None:
                steady.append((pitch, goertzel(samples, start, window, pitch)))
        audio["beepHeard"] = longest >= 3
        if steady:
            audio["toneHz"] = percentile([pitch for pitch, _ in steady], 0.5)
            audio["toneDbfs"] = round(decibels(percentile_exact([level for _, level in steady])), 2)


def percentile_exact(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


# --- PNG -----------------------------------------------------------------------------------------------------------


def write_png(path: str, rgb: bytes, width: int, height: int, stride: int) -> None:
    """An 8-bit RGB picture as PNG (ISO/IEC 15948)."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + rgb[y * stride : y * stride + 3 * width] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 6)))
        file.write(chunk(b"IEND", b""))
