"""One trial of a row: what is noted while it runs, what comes of it, and which bounds are broken."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

from cradle import sound
from cradle.house import House, Line, Problem

#: A network may be away for this long, and nobody is woken.
SHORT_GAP = 3.0
#: Whoever listens knows after this long that nothing comes any more.
TOLD_LIMIT = 5.0
#: After all is well: what rings in this time rings for nothing.
CALM_SECONDS = 7.0
LEAST_RATE = 5
LOST = "s of sound were lost"
#: Sources/Protocols/Monitoring/AlarmText.swift
TITLES = {
    "This machine is no longer paired": "revoked", "No contact with the camera": "link",
    "No sound from your baby's room": "microphone", "The microphone is sending nothing": "digital-silence",
    "No picture from the camera": "camera", "The picture is frozen": "frozen-picture",
    "This machine plays no sound": "own-sound", "The camera was switched off": "child-stopped"}  # fmt: skip
#: Of windows of 50 ms: half a second of the tone is no accident.
STEADY = 10


@dataclass
class Bounds:
    """What has to hold. See docs/FAULTS.md."""

    #: The kind of the alarm that has to ring; none: no alarm may.
    rings: str | None = None
    #: `rings` counts only when sound was missing for long enough, and may not ring when it was for a short time only.
    goes_by_gap: bool = False
    #: What may ring, too.
    may: tuple[str, ...] = ()
    #: What is only shown.
    shows: str | None = None
    #: Where the speaker itself is broken, an alarm cannot be heard there.
    is_heard: bool = True
    told: float = TOLD_LIMIT
    recovered: float = 10.0
    #: Seconds of sound.
    lost: float | None = None
    #: The longest time until it is found, where nothing rings.
    found: float | None = None


@dataclass
class Measured:
    found: float | None = None
    told: float | None = None
    recovered: float | None = None
    lost: float = 0.0
    longest_gap: float = 0.0
    kinds: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)

    @property
    def is_only_hurt(self) -> bool:
        """Nothing is wrong but some lost sound."""
        return len(self.failures) == 1 and self.failures[0].endswith(LOST)

    @property
    def document(self) -> dict[str, Any]:
        return asdict(self)


def kind(line: Line) -> str | None:
    alarm = line.figures["alarm"]
    return alarm["kind"] if alarm else None


class Trial:
    """A house that is well, until `broken`."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.broken_at = self.mended_at = 0.0
        self.ended_at = 0.0
        #: When the child's log or events said it, by other means than a line of the log.
        self.said_at: float | None = None
        #: What the child's log says of it.
        self.says: list[str] = []
        self.notes: list[str] = []
        self.failures: list[str] = []

    def broken(self, says: str | None = None) -> None:
        self.broken_at = time.monotonic()
        if says:
            self.says.append(says)

    def mended(self) -> None:
        self.mended_at = time.monotonic()

    def note(self, text: str) -> None:
        self.notes.append(text)

    def expect(self, holds: Any, text: str) -> None:
        if not holds:
            self.failures.append(text)

    @property
    def is_well(self) -> bool:
        parent = self.house.parent
        now = time.monotonic()
        lines = [line for line in parent.lines(now - 2.5) if line.at > self.mended_at + 0.2]
        if not lines or kind(lines[-1]) is not None or lines[-1].figures["framesPerSecond"] < LEAST_RATE:
            return False
        lately = sound.windows(parent.speaker, max(self.mended_at, now - 1))
        return len(lately) >= STEADY and all(window.has_child for window in lately[-STEADY:])

    def wait_until_well(self, limit: float) -> bool:
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            if self.is_well:
                return True
            if self.house.parent.process is None or self.house.parent.process.poll() is not None:
                raise Problem(f"the parent has ended: {self.house.parent.errors.text[-500:]}")
            time.sleep(0.2)
        return False

    def finish(self, limit: float = 30) -> None:
        """Until all is well again, and a while longer: what rings late, rings for nothing."""
        self.mended_at = self.mended_at or self.broken_at
        self.wait_until_well(limit)
        time.sleep(CALM_SECONDS)
        self.ended_at = time.monotonic()


def measure(trial: Trial, bounds: Bounds) -> Measured:
    parent, broken, mended = trial.house.parent, trial.broken_at, trial.mended_at
    result = Measured(notes=list(trial.notes), failures=list(trial.failures))
    lines = parent.lines(broken)
    played = sound.windows(parent.speaker, broken - 1)
    rings = [ring for ring in sound.ringing(played) if ring.end > broken]
    gaps = sound.gaps(played, broken, trial.ended_at)
    result.lost = sum(gap.seconds for gap in gaps)
    result.longest_gap = max((gap.seconds for gap in gaps), default=0)
    result.kinds = _kinds(trial, lines)
    result.found = _found(trial, lines)
    if rings:
        result.told = rings[0].begin - broken
    elif not bounds.is_heard:
        # What stands on the terminal, then.
        at = parent.errors.first("ALARM", broken) or parent.errors.first("WARNING", broken)
        result.told = at - broken if at else None
    result.recovered = _recovered(trial, lines, played)
    _judge(result, bounds, rings, trial)
    if result.failures:
        result.evidence = _evidence(trial, gaps, rings)
    return result


def _kinds(trial: Trial, lines: list[Line]) -> list[str]:
    """What was wrong, each time that it was something else."""
    told = [
        (at, text.split(" ", 1)[-1].removeprefix("ALARM: ")) for at, text in list(trial.house.parent.errors.lines)
        if at >= trial.broken_at]  # fmt: skip
    found = [name for _, text in told for title, name in TITLES.items() if text.startswith(title)]
    # One that was there already.
    first = next((name for line in lines if (name := kind(line)) is not None), None)
    return found if first is None or first in found else [first, *found]


def _found(trial: Trial, lines: list[Line]) -> float | None:
    times = [line.at for line in lines if kind(line) is not None or line.figures["state"] != "connected"][:1]
    times += [at for text in trial.says if (at := trial.house.child.said(text, trial.broken_at)) is not None]
    if trial.said_at is not None:
        times.append(trial.said_at)
    return min(times) - trial.broken_at if times else None


def _recovered(trial: Trial, lines: list[Line], played: list[sound.Window]) -> float | None:
    """From mending until the tone is steady and nothing is said to be wrong."""
    mended = trial.mended_at
    after = [window for window in played if window.at >= mended]
    steady = next(
        (after[i].at for i in range(len(after) - STEADY) if all(w.has_child for w in after[i:i + STEADY])), None)
    if steady is None:
        return None
    ends = [steady]
    during = [line for line in lines if line.at <= mended + 0.1]
    if during and kind(during[-1]) is not None or any(kind(line) for line in lines if mended < line.at < steady):
        ends.append(next((line.at for line in lines if line.at > mended and line.at >= steady - 1 and kind(line) is None), 0))
    if any(line.figures["framesPerSecond"] < LEAST_RATE for line in lines if line.at < steady + 1):
        ends.append(next((line.at for line in lines if line.at > mended and line.figures["framesPerSecond"] >= LEAST_RATE), 0))
    if 0 in ends:
        return None
    # Before it was mended it had gone on by itself.
    return max(0.0, max(ends) - mended)


def _judge(result: Measured, bounds: Bounds, rings: list[sound.Span], trial: Trial) -> None:
    fail = result.failures.append
    must, may = bounds.rings is not None, bounds.rings
    if bounds.goes_by_gap:
        must = result.longest_gap > TOLD_LIMIT
        may = bounds.rings if result.longest_gap > SHORT_GAP else None
    allowed = {may, bounds.shows, *bounds.may}
    if must and result.told is None:
        fail(f"nothing rang; {bounds.rings} should have")
    if result.told is not None and may is not None and result.told > bounds.told:
        fail(f"it rang only after {result.told:.1f} s")
    for found in dict.fromkeys(result.kinds):
        if found not in allowed:
            fail(f"{found} was told, and should not have been")
    if may is None and not bounds.may and rings:
        fail(f"it rang {rings[0].begin - trial.broken_at:.1f} s after the fault, and should not have")
    if must and bounds.rings not in result.kinds:
        fail(f"the alarm was not {bounds.rings}")
    if len(rings) > 1 and len(rings) > len(set(result.kinds) & allowed):
        times = ", ".join(f"{ring.begin - trial.broken_at:.1f}" for ring in rings)
        fail(f"it rang more than once, {times} s after the fault")
    if bounds.shows and bounds.shows not in result.kinds:
        fail(f"{bounds.shows} was not shown")
    if result.recovered is None:
        fail("it did not recover")
    elif result.recovered > bounds.recovered:
        fail(f"it took {result.recovered:.1f} s to recover")
    if bounds.lost is not None and result.lost > bounds.lost:
        fail(f"{result.lost:.2f} {LOST}")
    if bounds.found is not None and (result.found is None or result.found > bounds.found):
        fail("nobody noticed" if result.found is None else f"it was noticed only after {result.found:.1f} s")


def _evidence(trial: Trial, gaps: list[sound.Span], rings: list[sound.Span]) -> list[str]:
    """Lines of both programs, with seconds after the fault."""
    found: list[tuple[float, str]] = []
    for log in list(trial.house.child.logs):
        found += [(at, f"child: {text}") for at, text in list(log.lines)]
    found += [(at, f"parent: {text}") for at, text in list(trial.house.parent.errors.lines)]
    found += [(at, f"service: {text}") for at, text in list(trial.house.child.history)]
    last: Any = None
    for line in trial.house.parent.lines(trial.broken_at - 2):
        seen = (line.figures["state"], kind(line))
        if seen != last:
            found.append((line.at, f"stats: {seen[0]}, alarm {line.figures['alarm']}"))
        last = seen
    found.append((trial.mended_at, "mended"))
    found += [(gap.begin, f"speaker: no tone for {gap.seconds:.2f} s") for gap in gaps]
    found += [(ring.begin, f"speaker: the alarm, for {ring.seconds:.2f} s") for ring in rings]
    return [
        f"{at - trial.broken_at:+7.2f} s  {text}" for at, text in sorted(found) if at >= trial.broken_at - 2
            and (not text.startswith("child: ") or text[9:10] == ":")][:80]
