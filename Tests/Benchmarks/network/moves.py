"""A host that has another address from one moment to the next: how long a parent hears nothing.

In the house of the fault tests (cradle.house): a child, a router, a paired parent whose speaker is a file, and mDNS.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from cradle import house, sound

#: Whoever is not heard again by then is not heard again.
PATIENCE_SECONDS = 45
GOAL_SECONDS = 1.0


@dataclass(frozen=True)
class Move:
    name: str
    title: str
    #: `child` or `parent`.
    host: str
    goal: str = f"sound ≤ {GOAL_SECONDS:.0f} s"


MOVES = [
    Move("child-moves", "the child has a new address, its old one is gone", "child"),
    Move("parent-moves", "the parent has a new address, its old one is gone", "parent"),
]


def measure(move: Move, child: str, parent: str) -> dict[str, Any]:
    """Seconds without the child's tone, from the move on; none: it did not come again."""
    with house.House(child, parent, has_avahi=True) as home:
        home.watch()
        name = home.network.child if move.host == "child" else home.network.parent
        moved = time.monotonic()
        house.run("ip", "-n", name, "addr", "flush", "dev", "card")
        house.run("ip", "-n", name, "addr", "add", f"{house.NETWORK}.{7 if move.host == 'child' else 8}/24", "dev", "card")
        heard = None
        while time.monotonic() < moved + PATIENCE_SECONDS:
            time.sleep(1)
            played = sound.windows(home.parent.speaker, moved)
            now = played[-1].at if played else moved
            gaps = sound.gaps(played, moved, now)
            # What is left in buffers is played first: it has to have been away, and to be steady for two seconds.
            if gaps and now - gaps[-1].end >= 2:
                heard = gaps[-1].end - moved
                break
            if not gaps and now - moved > 8:
                heard = 0.0
                break
        kinds = [line.figures["alarm"]["kind"] for line in home.parent.lines(moved) if line.figures.get("alarm")]
        return {
            "heardAgainSeconds": round(heard, 2) if heard is not None else None,
            "silentSeconds": round(sum(gap.seconds for gap in gaps), 2),
            "alarms": list(dict.fromkeys(kinds)),
            "short": [] if heard is not None and heard <= GOAL_SECONDS else [f"> {GOAL_SECONDS:.0f} s"],
        }
