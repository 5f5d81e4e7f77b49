"""What a viewer saw over a bad network, from the records of network_viewer.py or of `cradle-parent watch --stats`.

No clock and no process here: records in, figures out. `figures_test.py` tries it. Times are seconds since the network
became bad, unless a name says otherwise.
"""

from __future__ import annotations

import statistics
from bisect import bisect_right
from dataclasses import asdict, dataclass, field
from typing import Any, Iterable, Sequence

from cradle.meters import age_of

FRAME_RATE = 30
SAMPLE_RATE = 48_000
#: Seconds before the network became bad whose rate counts as the full one.
BEFORE_SECONDS = 4
#: Delays that count as short again.
SHORT_MS = 300


@dataclass
class Second:
    """One second as the viewer had it. None: nobody counted it."""

    at: int
    frames: float
    video_kbps: float | None
    audio_kbps: float | None
    concealed_percent: float | None
    delay_p50_ms: float | None = None
    delay_p95_ms: float | None = None
    size: str = ""
    jitter_buffer_ms: float | None = None


@dataclass
class Fall:
    """A rate that fell, and came back."""

    #: Seconds from the fall until a second whose delay's 95th percentile was short, and after which none was long.
    settled_s: float | None
    is_aged: bool
    #: Full seconds without a picture while the rate was low; with a delay, after it was short again or had the time to be.
    empty_seconds: int
    concealed_percent: float | None
    longest_freeze_ms: float
    frames_per_second: float
    video_kbps: float | None
    delay_p95_ms: float | None
    sizes: list[str]
    #: Seconds from the return until the picture had 80 % of its rate, four fifths of its frames and its size again.
    back_s: float | None


#: What a sender has to find out what a path carries.
FINDING_SECONDS = 10


@dataclass
class Beside:
    """What a policer let through, after the time to find it out (and after the downloads had theirs)."""

    #: Of the call's packets.
    lost_percent: float
    call_kbps: float
    downloads_kbps: float
    #: Of the limit.
    call_percent: float
    downloads_percent: float
    #: Since the time to find it out.
    freezes: int
    frozen_seconds: float
    longest_freeze_ms: float
    #: Of the limit, the least and the greatest that the sender said it carries; none: it does not say.
    estimate_percent: tuple[float, float] | None = None

    def __str__(self) -> str:
        estimate = f", estimate {self.estimate_percent[0]:.0f} to {self.estimate_percent[1]:.0f} %" if self.estimate_percent else ""
        return (
            f"after {FINDING_SECONDS} s {self.freezes} freezes ({self.frozen_seconds:.1f} s, longest {self.longest_freeze_ms:.0f} ms), "
            f"{self.lost_percent:.1f} % lost, {self.call_percent:.0f} % of the limit, downloads {self.downloads_percent:.0f} %{estimate}"
        )


def beside(
    carried: Sequence[dict[str, Any]], frozen: Sequence[tuple[float, float]], limit_kbps: float, begins: float,
    estimates: Sequence[tuple[float, float]] = (), ended: float = float("inf"),
) -> Beside:
    """`carried`: as LimitedCable counts it; `frozen`: (end, length) of freezes; `begins`: seconds; `estimates`: (seconds, kbit/s)."""
    counted = [second for second in carried if begins <= second["second"] < ended]
    total = max(1, len(counted))

    def kbps(kind: str) -> float:
        return sum(second[f"{kind}_all_bytes"] - second[f"{kind}_dropped_bytes"] for second in counted) * 8 / 1000 / total

    sent = sum(second["udp_all"] for second in counted)
    late = [length for at, length in frozen if at > FINDING_SECONDS]
    known = [kbps / limit_kbps * 100 for at, kbps in estimates if begins <= at < ended]
    return Beside(
        lost_percent=round(sum(second["udp_dropped"] for second in counted) / max(1, sent) * 100, 2),
        call_kbps=round(kbps("udp")), downloads_kbps=round(kbps("tcp")),
        call_percent=round(kbps("udp") / limit_kbps * 100, 1), downloads_percent=round(kbps("tcp") / limit_kbps * 100, 1),
        freezes=len(late), frozen_seconds=round(sum(late), 2), longest_freeze_ms=round(max(late, default=0.0) * 1000),
        estimate_percent=(round(min(known), 1), round(max(known), 1)) if known else None,
    )  # fmt: skip


@dataclass
class Seen:
    """One run."""

    seconds: float
    pictures_percent: float
    freezes: int
    frozen_seconds: float
    longest_freeze_ms: float
    concealed_percent: float | None
    delay_p50_ms: float | None
    delay_p95_ms: float | None
    video_kbps: float | None
    #: Of the rate before the network became bad, the last ten seconds' in percent.
    rate_kept_percent: float | None
    sizes: list[str]
    #: As the browser itself counted.
    browser_freezes: int | None = None
    browser_frozen_seconds: float | None = None
    #: With the silence that stands for what is missing; what `cradle-parent` counts.
    concealed_with_silence_percent: float | None = None
    fall: Fall | None = None
    #: Of a limit that there was from the beginning, after the first ten seconds: `Beside`.
    beside: "Beside | None" = None
    series: list[Second] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        def text(value: float | None, form: str) -> str:
            return "?" if value is None else form % value

        line = (
            f"{self.pictures_percent:.1f} % of the pictures, {self.freezes} freezes ({self.frozen_seconds:.1f} s, longest "
            f"{self.longest_freeze_ms:.0f} ms), {text(self.concealed_percent, '%.2f')} % of the sound filled in "
            f"({text(self.concealed_with_silence_percent, '%.2f')} with silence), delay "
            f"{text(self.delay_p50_ms, '%.0f')}/{text(self.delay_p95_ms, '%.0f')} ms, {text(self.video_kbps, '%.0f')} kbit/s, "
            f"rate kept {text(self.rate_kept_percent, '%.0f')} %, {' '.join(self.sizes)}"
        )
        if self.fall:
            line += (
                f"; low: settled {text(self.fall.settled_s, '%.0f')} s, {self.fall.empty_seconds} s without a picture, "
                f"{self.fall.frames_per_second:.1f} frames/s at {text(self.fall.video_kbps, '%.0f')} kbit/s, p95 "
                f"{text(self.fall.delay_p95_ms, '%.0f')} ms, {text(self.fall.concealed_percent, '%.2f')} % made up; back in "
                f"{text(self.fall.back_s, '%.0f')} s"
            )
        if self.beside:
            line += f"; {self.beside}"
        return line


# --- Parts ---------------------------------------------------------------------------------------------------------


def percentile(values: Iterable[float], share: float) -> float | None:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) if ordered else None


def freezes(times: Sequence[float], ended: float) -> list[tuple[float, float]]:
    """(end, length) in seconds of each interval that W3C webrtc-stats calls a freeze (freezeCount): longer than three times
    the mean of the last 30, and than that mean and 150 ms."""
    found: list[tuple[float, float]] = []
    recent: list[float] = []
    for before, after in zip(times, [*times[1:], ended]):
        interval = after - before
        if recent:
            mean = sum(recent) / len(recent)
            if interval > max(3 * mean, mean + 0.150):
                found.append((after, interval))
        recent = (recent + [interval])[-30:]
    return found


class Counter:
    """A number that only grows, known at some moments and taken to grow evenly between them."""

    def __init__(self, points: Iterable[tuple[float, float]]):
        self.times, self.values = [], []
        for time, value in points:
            if self.times and time <= self.times[-1]:
                continue
            self.times.append(time)
            self.values.append(value)

    def __bool__(self) -> bool:
        return len(self.times) > 1

    def at(self, time: float) -> float:
        index = bisect_right(self.times, time)
        if index == 0:
            return self.values[0]
        if index == len(self.times):
            return self.values[-1]
        (t0, t1), (v0, v1) = self.times[index - 1 : index + 1], self.values[index - 1 : index + 1]
        return v0 + (v1 - v0) * (time - t0) / (t1 - t0)

    def between(self, begin: float, end: float) -> float:
        return self.at(end) - self.at(begin)


def mean_of(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


@dataclass
class Record:
    """What both kinds of viewers are brought to. Times in seconds since the network became bad."""

    frames: Counter
    video_bytes: Counter
    audio_bytes: Counter
    #: Samples of sound: made up though something should have been heard, and all.
    concealed: Counter
    samples: Counter
    #: (time, delay in ms, size) of each picture, where each one is known.
    pictures: list[tuple[float, float | None, str]]
    #: (end, length) of each freeze, s.
    freezes: list[tuple[float, float]]
    #: (time, size) where the pictures are not known one by one.
    sizes: list[tuple[float, str]] = field(default_factory=list)
    jitter_buffer: Counter | None = None
    emitted: Counter | None = None
    #: `concealed`, and the silence in place of what is missing.
    concealed_with_silence: Counter | None = None

    def kbps(self, bytes: Counter, begin: float, end: float) -> float | None:
        return round(bytes.between(begin, end) * 8 / 1000 / (end - begin), 1) if bytes else None

    def concealed_percent(self, begin: float, end: float, with_silence: bool = False) -> float | None:
        played = self.samples.between(begin, end) if self.samples else 0
        concealed = self.concealed_with_silence or self.concealed if with_silence else self.concealed
        return round(max(0.0, concealed.between(begin, end)) / played * 100, 3) if played > 0 else None

    def delays(self, begin: float, end: float) -> list[float]:
        return [delay for time, delay, _ in self.pictures if begin <= time < end and delay is not None]

    def sizes_between(self, begin: float, end: float) -> list[str]:
        """Each once, in the order in which they came."""
        known = [(time, size) for time, _, size in self.pictures] or self.sizes
        return list(dict.fromkeys(size for time, size in known if begin <= time < end))

    def second(self, at: int) -> Second:
        delays = self.delays(at, at + 1)
        emitted = self.emitted.between(at, at + 1) if self.emitted else 0
        return Second(
            at, round(self.frames.between(at, at + 1), 1) if not self.pictures else
            sum(1 for time, _, _ in self.pictures if at <= time < at + 1),
            self.kbps(self.video_bytes, at, at + 1), self.kbps(self.audio_bytes, at, at + 1),
            self.concealed_percent(at, at + 1), percentile(delays, 0.5), percentile(delays, 0.95),
            " ".join(self.sizes_between(at, at + 1)),
            round(self.jitter_buffer.between(at, at + 1) / emitted * 1000, 1) if self.jitter_buffer and emitted > 0 else None,
        )  # fmt: skip


# --- Both kinds of viewers -----------------------------------------------------------------------------------------


def of_browser(result: dict[str, Any], started: float, seconds: float) -> Record:
    """Of network_viewer.py's result; `started` is unix time."""

    def counter(kind: str, *names: str) -> Counter:
        """Of the first one less the others."""
        return Counter(
            (sample["time"] / 1000 - started, sample[kind][names[0]] - sum(sample[kind].get(other, 0) for other in names[1:]))
            for sample in result["samples"]
            if names[0] in sample.get(kind, {})
        )

    pictures = [
        (wall / 1000 - started, age_of(timecode, wall) if timecode is not None else None, f"{width}x{height}")
        for wall, timecode, _, width, height in result["pictures"]
    ]
    return Record(
        counter("video", "framesDecoded"), counter("video", "bytesReceived"), counter("audio", "bytesReceived"),
        counter("audio", "concealedSamples", "silentConcealedSamples"), counter("audio", "totalSamplesReceived"), pictures,
        freezes([time for time, _, _ in pictures if time <= seconds], seconds),
        jitter_buffer=counter("video", "jitterBufferDelay"), emitted=counter("video", "jitterBufferEmittedCount"),
        concealed_with_silence=counter("audio", "concealedSamples"),
    )  # fmt: skip


def of_parent(lines: Sequence[tuple[float, dict[str, Any]]], started: float) -> Record:
    """Of the lines of `watch --stats`, each with the unix time at which it came."""
    watching = [(at - started, line) for at, line in lines if line["state"] != "ended"]

    def summed(name: str) -> Counter:
        """Of a rate over the time since the line before."""
        total, points, before = 0.0, [], None
        for at, line in watching:
            total += line.get(name, 0) * 1000 / 8 * (at - before if before is not None else 0)
            points.append((at, total))
            before = at
        return Counter(points)

    frozen = []
    for (_, before), (at, after) in zip(watching, watching[1:]):
        # A second with several freezes counts as one long one.
        if after["freezeMs"] > before["freezeMs"]:
            frozen.append((at, (after["freezeMs"] - before["freezeMs"]) / 1000))
    # Its share is of the sound since the beginning.
    sound = [(at, line["concealedPercent"] / 100) for at, line in watching if line.get("concealedPercent") is not None]
    first = sound[0][0] - 1 if sound else 0.0
    return Record(
        Counter((at, line["framesDecoded"]) for at, line in watching), summed("videoKbps"), summed("audioKbps"),
        Counter((at, (at - first) * share * SAMPLE_RATE) for at, share in sound),
        Counter((at, (at - first) * SAMPLE_RATE) for at, _ in sound), [], frozen,
        sizes=[(at, f"{line['width']}x{line['height']}") for at, line in watching if line.get("width")],
    )  # fmt: skip


def seen(record: Record, seconds: float, fall: tuple[float, float] | None = None) -> Seen:
    """`fall`: when the rate fell and when it came back."""
    frozen = [(at, length) for at, length in record.freezes if 0 < at <= seconds]
    delays = record.delays(0, seconds)
    series = [record.second(at) for at in range(-BEFORE_SECONDS, int(seconds))]
    before = record.kbps(record.video_bytes, -BEFORE_SECONDS, 0)
    last = record.kbps(record.video_bytes, max(0.0, seconds - 10), seconds)
    return Seen(
        seconds=seconds,
        pictures_percent=round(record.frames.between(0, seconds) / seconds / FRAME_RATE * 100, 2),
        freezes=len(frozen),
        frozen_seconds=round(sum(length for _, length in frozen), 2),
        longest_freeze_ms=round(max((length for _, length in frozen), default=0.0) * 1000),
        concealed_percent=record.concealed_percent(0, seconds),
        delay_p50_ms=percentile(delays, 0.5),
        delay_p95_ms=percentile(delays, 0.95),
        video_kbps=record.kbps(record.video_bytes, 0, seconds),
        rate_kept_percent=round(last / before * 100, 1) if last is not None and before else None,
        sizes=record.sizes_between(0, seconds),
        concealed_with_silence_percent=record.concealed_percent(0, seconds, with_silence=True),
        fall=_fall(record, series, frozen, *fall, seconds) if fall else None,
        series=series,
    )


def _fall(
    record: Record, series: list[Second], frozen: list[tuple[float, float]], fell: float, returned: float, ended: float
) -> Fall:
    low = [second for second in series if fell <= second.at and second.at + 1 <= returned]
    aged = [second for second in low if second.delay_p95_ms is not None]
    last_late = max((second.at for second in aged if second.delay_p95_ms >= SHORT_MS), default=-1)
    # A second without a picture is neither: it takes a picture to show that it is over.
    settled = next((max(0.0, second.at - fell) for second in aged if second.at > last_late), None)
    after = fell + (settled if settled is not None else 4)
    full = [second for second in series if -BEFORE_SECONDS <= second.at < fell and second.frames > 0]
    return Fall(
        settled_s=round(settled, 1) if settled is not None else None,
        is_aged=bool(aged),
        empty_seconds=sum(1 for second in low if second.at >= after and second.frames < 0.5),
        concealed_percent=record.concealed_percent(fell, returned),
        longest_freeze_ms=round(max((length for at, length in frozen if fell < at <= returned), default=0.0) * 1000),
        frames_per_second=round(record.frames.between(fell, returned) / (returned - fell), 1),
        video_kbps=record.kbps(record.video_bytes, fell, returned),
        delay_p95_ms=percentile(record.delays(fell, returned), 0.95),
        sizes=record.sizes_between(fell, returned),
        back_s=_back(full, [second for second in series if second.at >= returned], returned),
    )


def _back(full: list[Second], after: list[Second], returned: float) -> float | None:
    """The end of the first second in which all was there again."""
    rate = mean_of(second.video_kbps for second in full)
    size = full[-1].size.split()[-1:] if full else []
    for second in after:
        if (
            second.frames >= 0.8 * FRAME_RATE
            and (rate is None or (second.video_kbps or 0) >= 0.8 * rate)
            and second.size.split()[-1:] == size
        ):
            return round(second.at + 1 - returned, 1)
    return None
