"""What a row of the fault table is, and the list of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable

from measure import Bounds, Trial


@dataclass
class Row:
    name: str
    #: What is broken, for people.
    fault: str
    bounds: Bounds
    act: Callable[[Trial], None]
    is_quick: bool
    #: It takes hours: only when it is named.
    is_long: bool
    #: Further arguments of `House`.
    house: dict[str, Any] = field(default_factory=dict)
    #: Why it cannot be tried on this machine; none: it can.
    obstacle: Callable[[], str | None] = lambda: None


ROWS: list[Row] = []


def row(name: str, fault: str, bounds: Bounds, quick: bool = False, long: bool = False,
        obstacle: Callable[[], str | None] = lambda: None, **house: Any) -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:  # fmt: skip
    def add(act: Callable[[Trial], None]) -> Callable[[Trial], None]:
        ROWS.append(Row(name, fault, bounds, act, quick, long, house, obstacle))
        return act

    return add
