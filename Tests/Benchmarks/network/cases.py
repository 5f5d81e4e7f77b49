"""The bad networks of network_bench.py, and what a viewer should see over each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from network.limited_cable import Limit
from network.figures import Seen
from network.models import Network

#: Shares of a run's time: when the rate falls, and when it is back.
FALLS, RETURNS = 1 / 6, 2 / 3
FULL_KBPS = 3000
#: Said of a run that is not long enough to tell.
TOO_SHORT = "too short to tell"


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    goal: str
    #: For a run of so many seconds.
    network: Callable[[float], Network | Limit]
    #: What is short of the goal, in words.
    judge: Callable[[Seen], list[str]]
    #: Seconds at which the rate falls and is back.
    has_rates: bool = False

    def falls(self, seconds: float) -> tuple[float, float] | None:
        return (seconds * FALLS, seconds * RETURNS) if self.has_rates else None


def _loss(
    name: str, title: str, goal: str, network: Network, pictures: float, longest_ms: float, concealed: float,
    keeps_rate: bool = False,
) -> Case:  # fmt: skip
    def judge(seen: Seen) -> list[str]:
        found = []
        if seen.pictures_percent < pictures:
            found.append(f"pictures < {pictures} %")
        if seen.longest_freeze_ms > longest_ms:
            found.append(f"freeze > {longest_ms:.0f} ms" if longest_ms else "a freeze")
        if seen.concealed_percent is not None and seen.concealed_percent >= concealed:
            found.append(f"concealed ≥ {concealed} %")
        if keeps_rate and seen.rate_kept_percent is not None and seen.rate_kept_percent < 80:
            found.append("rate at the end < 80 %")
        return found

    return Case(name, title, goal, lambda _: network, judge)


def _blackout() -> Case:
    network = Network(blackout_ms=200, blackout_every_s=10)

    def judge(seen: Seen) -> list[str]:
        found = []
        if seen.freezes > round(seen.seconds / network.blackout_every_s):
            found.append("more than one freeze each")
        if seen.longest_freeze_ms > 400:
            found.append("freeze > 400 ms")
        return found

    return Case("blackout", "nothing passes for 200 ms, every 10 s", "one freeze each, ≤ 400 ms", lambda _: network, judge)


def _rate(name: str, kbps: float, queue_ms: float, goal: str, settles_s: float | None) -> Case:
    def network(seconds: float) -> Network:
        rates = ((0.0, float(FULL_KBPS)), (seconds * FALLS, kbps), (seconds * RETURNS, float(FULL_KBPS)))
        return Network(rates=rates, queue_ms=queue_ms)

    def judge(seen: Seen) -> list[str]:
        found = []
        fall = seen.fall
        if fall is None:
            return [TOO_SHORT]
        if settles_s is not None:
            # Chromium's pictures tell their age; a parent that keeps none by the second is not judged by it.
            if fall.is_aged and (fall.settled_s is None or fall.settled_s > settles_s):
                found.append(f"p95 ≥ 300 ms after {settles_s:.0f} s")
            if fall.empty_seconds:
                found.append("seconds without a picture")
        elif seen.concealed_percent is not None and seen.concealed_percent >= 1:
            # Of the run, as in every row; the table shows what it was while the rate was low.
            found.append("concealed ≥ 1 %")
        if fall.back_s is None or fall.back_s > 6:
            found.append("not back in 6 s")
        return found

    label = f"{kbps:.0f} kbit/s"
    return Case(name, f"3 Mbit/s → {label} → 3 Mbit/s, a queue of {queue_ms:.0f} ms", goal, network, judge, has_rates=True)


def _policer(name: str, kbps: float, bucket_kb: int, goal: str, flows: int = 0) -> Case:
    limit = Limit(rates=((0.0, kbps),), bucket=bucket_kb * 1000, flows=flows)

    def judge(seen: Seen) -> list[str]:
        beside = seen.beside
        if beside is None:
            return [TOO_SHORT]
        found = []
        if flows:
            if seen.frozen_seconds >= 1:
                found.append("frozen ≥ 1 s")
            if beside.lost_percent >= 8:
                found.append("lost ≥ 8 %")
            if not 35 <= beside.downloads_percent <= 75:
                found.append("the download has not 35 to 75 %")
        else:
            if beside.freezes:
                found.append("a freeze after 10 s")
            if beside.lost_percent >= 5:
                found.append("lost ≥ 5 %")
            if beside.estimate_percent and not (beside.estimate_percent[0] >= 70 and beside.estimate_percent[1] <= 120):
                found.append("estimate beyond 70 to 120 %")
        return found

    along = f", {flows} download{'s' if flows > 1 else ''} beside it" if flows else ""
    return Case(name, f"a policer: {kbps / 1000:g} Mbit/s, bucket {bucket_kb} kB{along}", goal, lambda _: limit, judge)


def _pie() -> Case:
    network = Network(rates=((0.0, 2000.0),), has_pie=True, flows=1)

    def judge(seen: Seen) -> list[str]:
        beside = seen.beside
        if beside is None:
            return [TOO_SHORT]
        found = [] if (seen.delay_p95_ms or 0) < 150 else ["p95 ≥ 150 ms"]
        if not (35 <= beside.call_percent <= 65 and 35 <= beside.downloads_percent <= 65):
            found.append("not 35 to 65 % each")
        return found

    return Case("pie-download", "PIE (RFC 8033) at 2 Mbit/s, a download beside it", "each 35 to 65 %, p95 < 150 ms", lambda _: network, judge)


def _batches() -> Case:
    def network(seconds: float) -> Network:
        rates = ((0.0, float(FULL_KBPS)), (seconds * FALLS, 800.0), (seconds * RETURNS, float(FULL_KBPS)))
        return Network(rates=rates, batch_ms=150)

    def judge(seen: Seen) -> list[str]:
        if seen.fall is None:
            return [TOO_SHORT]
        late = [second for second in seen.series if seen.seconds * FALLS + 3 <= second.at < seen.seconds * RETURNS]
        found = ["freeze > 500 ms"] if seen.longest_freeze_ms > 500 else []
        if any((second.video_kbps or 0) > 800 for second in late):
            found.append("not followed in 3 s")
        if seen.fall.back_s is None or seen.fall.back_s > 10:
            found.append("not back in 10 s")
        return found

    goal = "followed in 3 s, no freeze over 0.5 s, back in 10 s"
    return Case("batches-800", "delivered in batches of 150 ms; 3 Mbit/s → 800 kbit/s → 3 Mbit/s", goal, network, judge, has_rates=True)


def _tbf() -> Case:
    def network(seconds: float) -> Limit:
        return Limit(rates=((0.0, float(FULL_KBPS)), (seconds * FALLS, 500.0), (seconds * RETURNS, float(FULL_KBPS))))

    def judge(seen: Seen) -> list[str]:
        fall = seen.fall
        if fall is None:
            return [TOO_SHORT]
        found = []
        low = [second for second in seen.series if second.at >= seen.seconds * FALLS + 1 and second.at + 1 <= seen.seconds * RETURNS]
        if any(second.frames < 0.5 for second in low):
            found.append("a second without a picture")
        if any((second.delay_p95_ms or 0) >= 400 for second in low[2:]):
            found.append("p95 ≥ 400 ms")
        if fall.back_s is None or fall.back_s > 6:
            found.append("not back in 6 s")
        return found

    goal = "no second without a picture after that of the fall, p95 < 400 ms from the third second, back in 6 s"
    return Case("tbf-500", "3 Mbit/s → 500 kbit/s → 3 Mbit/s, `tbf burst 8kb latency 400ms`", goal, network, judge, has_rates=True)


_BACK = "; back: ≥ 80 % of full quality in 6 s"

CASES = [
    _loss("clean", "nothing is lost", "every picture, no freeze", Network(), 99.5, 0, 0.1),
    _loss("loss-2", "2 % lost", "≥ 99.5 % of the pictures, no freeze", Network(loss_percent=2), 99.5, 0, 100),
    _loss("loss-5", "5 % lost", "≥ 99 %, none over 300 ms, concealed < 0.3 %", Network(loss_percent=5), 99, 300, 0.3),
    _loss(
        "loss-10", "10 % lost", "≥ 98 %, none over 300 ms, < 0.5 %, rate at the end ≥ 80 % of the start",
        Network(loss_percent=10), 98, 300, 0.5, keeps_rate=True,
    ),
    _loss("loss-20", "20 % lost", "≥ 95 %, none over 300 ms, < 1 %", Network(loss_percent=20), 95, 300, 1),
    _loss(
        "bursts-3", "10 % lost, 3 in a row on average", "none over 500 ms, < 2 %",
        Network(loss_percent=10, burst=3), 0, 500, 2,
    ),
    # No goal: the case that the issue was opened with, for comparison with what was measured then.
    _loss(
        "runs-100", "10 % lost, each time 100 in a row", "–", Network(loss_percent=10, burst=100, is_exact=True), 0,
        float("inf"), float("inf"),
    ),
    _blackout(),
    _rate("rate-500", 500, 500, "p95 < 300 ms within 2 s, no second without a picture after that" + _BACK, 2),
    _rate("rate-500-deep", 500, 2000, "p95 < 300 ms within 4 s, no second without a picture after that" + _BACK, 4),
    _rate("rate-100", 100, 500, "sound: < 1 % concealed; the low rendition or stills" + _BACK, None),
    _policer("policer-download", 2000, 16, "< 1 s frozen, own loss < 8 %, the download 35 to 75 % of the limit", flows=1),
    _policer("policer-1-16", 1000, 16, "no freeze after 10 s, < 5 % lost, estimate 70 to 120 % of the limit"),
    _policer("policer-1-64", 1000, 64, "no freeze after 10 s, < 5 % lost, estimate 70 to 120 % of the limit"),
    _tbf(),
    _pie(),
    _batches(),
    _rate("rate-60", 60, 500, "sound: < 1 % concealed; the low rendition or stills" + _BACK, None),
]  # fmt: skip
