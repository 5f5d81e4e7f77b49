"""What was measured, for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BEGIN, END = "<!-- table: Tests/Faults/run --write -->", "<!-- end of table -->"
HEADER = [
    "| row | what is broken | found after | alarm after | recovered after | sound lost | alarms and events | bounds |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
]


def seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"


def sentence(result: dict[str, Any]) -> str:
    if result["outcome"] == "left out":
        return f"left out: {result['reason']}"
    problems = "; ".join(result.get("failures", []))
    figures = ""
    if "lost" in result:
        figures = (f"found {seconds(result['found'])}, told {seconds(result['told'])}, recovered {seconds(result['recovered'])}, "
                   f"lost {seconds(result['lost'])} (longest {seconds(result['longest_gap'])}), "
                   f"{', '.join(result['kinds']) or 'nothing rang'}. {' '.join(result['notes'])} ")  # fmt: skip
    return f"{figures}{'BROKEN: ' + problems if problems else 'held'} ({result['seconds']:.0f} s)"


def line(result: dict[str, Any]) -> str:
    if result["outcome"] == "left out":
        cells = ["–"] * 5 + [f"left out: {result['reason']}"]
    elif "lost" not in result:
        cells = ["–"] * 5 + ["**broken**: " + "; ".join(result["failures"])]
    else:
        words = [", then ".join(f"`{kind}`" for kind in result["kinds"])] + result["notes"]
        cells = [
            seconds(result["found"]), seconds(result["told"]), seconds(result["recovered"]), seconds(result["lost"]),
            " ".join(word for word in words if word) or "nothing",
            "**broken**: " + "; ".join(result["failures"]) if result["failures"] else "held"]  # fmt: skip
    return "| " + " | ".join([result["name"], result["fault"], *cells]) + " |"


def write(path: Path, results: list[dict[str, Any]], order: list[str]) -> None:
    """Rows that were not tried this time stay as they are."""
    text = path.read_text()
    before, rest = text.split(BEGIN, 1)
    old, after = rest.split(END, 1)
    known = {row.split("|")[1].strip(): row for row in old.splitlines() if row.startswith("| ")}
    known |= {result["name"]: line(result) for result in results}
    path.write_text("\n".join([before + BEGIN, *HEADER, *(known[name] for name in order if name in known), END]) + after)
