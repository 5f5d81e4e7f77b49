"""One line of the table: what was measured, beside what it is compared with and what it should reach."""

from __future__ import annotations

import math
import statistics
from dataclasses import asdict, dataclass
from typing import Any, Callable, Sequence


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


@dataclass
class Figure:
    name: str
    unit: str
    ours: float | None = None
    reference: float | None = None
    #: What the reference is.
    against: str = ""
    #: `ratio` or `difference` of ours to the reference, or none.
    compare: str = ""
    target: str = ""
    #: None where nothing is asked.
    met: bool | None = None
    note: str = ""
    #: The runs behind the number.
    runs: Any = None
    missing: str = ""

    @property
    def comparison(self) -> float | None:
        if self.ours is None or self.reference is None or not self.compare:
            return None
        if self.compare == "difference":
            return self.ours - self.reference
        return self.ours / self.reference if self.reference else math.inf

    def judged(self, target: str, is_met: Callable[["Figure"], bool]) -> "Figure":
        """Holds the figure against its target."""
        self.target = target
        self.met = is_met(self) if self.ours is not None else None
        return self

    def cells(self) -> list[str]:
        if self.missing:
            return [self.name, "not measured", "", "", self.target, self.missing]
        comparison = self.comparison
        compared = "" if comparison is None else f"{comparison:+.2f}" if self.compare == "difference" else f"×{comparison:.3f}"
        reference = f"{number(self.reference)} {self.against}" if self.reference is not None else ""
        verdict = "" if self.met is None else "met" if self.met else "SHORT"
        return [self.name, f"{number(self.ours)} {self.unit}", reference, compared, self.target, verdict]

    def record(self) -> dict[str, Any]:
        return asdict(self) | {"comparison": self.comparison}


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2f}"


def table(figures: Sequence[Figure]) -> str:
    rows = [["figure", "ours", "reference", "compared", "target", "verdict"]] + [figure.cells() for figure in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = ["  ".join([cell.ljust(width) for cell, width in zip(row, widths)] + [row[5]]).rstrip() for row in rows]
    lines.insert(1, "-" * max(map(len, lines)))
    notes = [f"  {figure.name}: {figure.note}" for figure in figures if figure.note]
    return "\n".join(lines + ([""] + notes if notes else []))
