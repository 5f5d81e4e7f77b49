"""What was heard at a speaker that is a file: the child's tone, and the alarm."""

from __future__ import annotations

import array
import math
from bisect import bisect_left
from dataclasses import dataclass

from .house import SpeakerFile

#: `test` sound of a child: 1 kHz, and a beep of 2 kHz each second. interfaces/devices.md, "Test picture and tone".
CHILD_HERTZ = (1000, 2000)
#: Sources/Media/Sound/AlarmTone.swift
ALARM_HERTZ = (880, 1109, 1319)
#: Nothing in either lies above a quarter of this rate's half.
STEP = 4
WINDOW_SECONDS = 0.05
#: Amplitudes, of 32768: the child's tone has 3,277, the alarm 5,500 at its softest.
LEAST = 400
#: A note of the alarm lasts 200 ms; the edge of a beep looks like one for 50.
LEAST_WINDOWS = 3
#: A round of notes lasts 1.6 s, 0.9 of them without a note.
PAUSE_SECONDS = 1.3


@dataclass
class Window:
    """50 ms at a speaker."""

    #: When the last of its samples was played.
    at: float
    has_child: bool
    has_alarm: bool


@dataclass
class Span:
    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin


def amplitude(samples: list[float], hertz: float, rate: float) -> float:
    """Goertzel's algorithm."""
    factor = 2 * math.cos(2 * math.pi * hertz / rate)
    one = two = 0.0
    for sample in samples:
        one, two = sample + factor * one - two, one
    # Half of it for the window's own mean (Hann).
    return 2 * math.sqrt(max(0.0, one * one + two * two - factor * one * two)) / (len(samples) * 0.5)


def windows(speaker: SpeakerFile, since: float = 0) -> list[Window]:
    """Of everything that was played after `since`, and is still there."""
    sizes = speaker.latest()
    if not sizes:
        return []
    length = int(SpeakerFile.RATE * WINDOW_SECONDS)
    earliest = bisect_left(sizes, (since, 0))
    before = sizes[earliest - 1][1] - SpeakerFile.HEADER_BYTES if earliest > 0 else 0
    skipped = before // 2 // length * length
    with speaker.path.open("rb") as file:
        file.seek(SpeakerFile.HEADER_BYTES + 2 * skipped)
        data = file.read()
    samples = array.array("h", data[:len(data) // 2 * 2])
    count, rate = length // STEP, SpeakerFile.RATE / STEP
    shape = [0.5 - 0.5 * math.cos(2 * math.pi * (i + 0.5) / count) for i in range(count)]
    ends = [size for _, size in sizes]
    found = []
    for begin in range(0, len(samples) - length + 1, length):
        place = bisect_left(ends, SpeakerFile.HEADER_BYTES + 2 * (skipped + begin + length))
        if place >= len(sizes):
            break
        at = sizes[place][0]
        if at < since:
            continue
        part = [value * weight for value, weight in zip(samples[begin:begin + length:STEP], shape)]
        found.append(Window(
            at, any(amplitude(part, hertz, rate) > LEAST for hertz in CHILD_HERTZ),
            any(amplitude(part, hertz, rate) > LEAST for hertz in ALARM_HERTZ)))  # fmt: skip
    return found


def ringing(played: list[Window]) -> list[Span]:
    """From the first note of an alarm to its last."""
    notes: list[Span] = []
    begin = 0
    for index in range(len(played) + 1):
        if index < len(played) and played[index].has_alarm:
            continue
        if index - begin >= LEAST_WINDOWS:
            notes.append(Span(played[begin].at, played[index - 1].at))
        begin = index + 1
    spans: list[Span] = []
    for note in notes:
        if spans and note.begin - spans[-1].end < PAUSE_SECONDS:
            spans[-1].end = note.end
        else:
            spans.append(note)
    return spans


def gaps(played: list[Window], begin: float, end: float) -> list[Span]:
    """When the child's tone was missing, between two moments."""
    found = []
    last = begin
    for at in [*(window.at for window in played if window.has_child and begin <= window.at <= end), end]:
        # The file is looked at every 10 ms.
        if at - last > 1.7 * WINDOW_SECONDS:
            found.append(Span(last, at - WINDOW_SECONDS))
        last = at
    return found
