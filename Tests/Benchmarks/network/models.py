#!/usr/bin/env python3
"""What a bad network does to packets: who is lost, how long who is not has to wait. No clock, no socket: packets and times
in, fates out, so that the same seed gives the same network to everybody. `models_test.py` tries it.

Loss is drawn packet by packet, in the order in which they come: two peers lose their first, fifth and ninth packet alike, though
these are not sent at the same times. Blackouts and rates go by the time since the start.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from typing import Any, Sequence

#: For whoever has none: nothing waits and nothing is too long.
NO_RATE: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Network:
    """One way through a network; the same for both ways, but for the packets that are drawn."""

    delay_ms: float = 10
    #: Mean share of the packets that are lost.
    loss_percent: float = 0
    #: Packets lost in a row: on average (Gilbert-Elliott), or each time where `is_exact`.
    burst: float = 1
    is_exact: bool = False
    #: Nothing passes for so long, each time so much of it has gone by; the first one after half of that.
    blackout_ms: float = 0
    blackout_every_s: float = 0
    #: (seconds since the start, kbit/s from then on), in order; the first one counts before, too. None: no limit.
    rates: tuple[tuple[float, float], ...] = NO_RATE
    #: Of the bottleneck, at the rate of the moment: who would wait longer is dropped.
    queue_ms: float = 500
    #: Active queue management at the bottleneck (RFC 8033): packets are dropped by chance, so that few wait longer than 15 ms.
    has_pie: bool = False
    #: What arrives within such a time is delivered together at its end: a radio that sleeps.
    batch_ms: float = 0
    #: Downloads beside the call, by TCP with the kernel's congestion control, and when they begin, seconds since the start.
    flows: int = 0
    flows_begin: float = 8

    def __post_init__(self) -> None:
        if not 0 <= self.loss_percent < 100 or self.burst < 1:
            raise ValueError("loss is 0 to 100 %, in bursts of 1 packet or more")
        if any(rate <= 0 for _, rate in self.rates) or list(self.rates) != sorted(self.rates):
            raise ValueError("rates are above 0 and in order of time")

    def document(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, document: dict[str, Any]) -> "Network":
        known = dict(document)
        known["rates"] = tuple((float(at), float(kbps)) for at, kbps in known.get("rates", NO_RATE))
        return cls(**known)

    def rate_at(self, seconds: float) -> float | None:
        """kbit/s."""
        if not self.rates:
            return None
        return self.rates[max(0, bisect_right([at for at, _ in self.rates], seconds) - 1)][1]


# --- Loss ----------------------------------------------------------------------------------------------------------


class GilbertElliott:
    """Two states: in the good one nothing is lost, in the bad one everything. With bursts of 1 on average, packets are
    lost independently of each other."""

    def __init__(self, share: float, burst: float, draws: random.Random):
        self.draws = draws
        self.is_bad = False
        self.is_independent = burst == 1
        self.share = share
        # The mean stay in the bad state is `burst` packets, and the share of packets that meet it is `share`.
        self.leave = 1 / burst
        self.enter = min(1.0, self.leave * share / (1 - share)) if share else 0.0

    def takes_next(self) -> bool:
        # One draw a packet, always, so that a packet's number decides.
        drawn = self.draws.random()
        if self.is_independent:
            return drawn < self.share
        self.is_bad = drawn >= self.leave if self.is_bad else drawn < self.enter
        return self.is_bad


class Runs:
    """So many packets in a row, each time."""

    def __init__(self, share: float, length: int, draws: random.Random):
        self.draws = draws
        self.length = length
        self.left = 0
        # Packets between two runs, on average: 1 / begin. A run may follow a run.
        self.begin = share / (length - share * (length - 1)) if share else 0.0

    def takes_next(self) -> bool:
        drawn = self.draws.random()
        if self.left == 0 and drawn < self.begin:
            self.left = self.length
        if self.left == 0:
            return False
        self.left -= 1
        return True


def is_black(network: Network, seconds: float) -> bool:
    if not network.blackout_ms or not network.blackout_every_s:
        return False
    since = (seconds - network.blackout_every_s / 2) % network.blackout_every_s
    return seconds >= network.blackout_every_s / 2 and since < network.blackout_ms / 1000


# --- The bottleneck ------------------------------------------------------------------------------------------------


class Bottleneck:
    """A queue in front of a line of limited rate, which drops what comes when it is full."""

    def __init__(self, network: Network):
        self.network = network
        #: When the last of those in it will have left, and when each leaves with how many bytes.
        self.free_at = float("-inf")
        self.waiting: deque[tuple[float, int]] = deque()
        self.bytes = 0

    def leaves_at(self, seconds: float, size: int) -> float | None:
        """For a packet that comes now; none when it is dropped. Times never run backwards."""
        rate = self.network.rate_at(seconds)
        if rate is None:
            return seconds
        while self.waiting and self.waiting[0][0] <= seconds:
            self.bytes -= self.waiting.popleft()[1]
        if self.bytes * 8 / rate > self.network.queue_ms:
            return None
        self.free_at = self._sent(max(seconds, self.free_at), size)
        self.waiting.append((self.free_at, size))
        self.bytes += size
        return self.free_at

    def _sent(self, begins: float, size: int) -> float:
        """When the last bit has left; the rate may change meanwhile."""
        bits = float(size * 8)
        for at, _ in self.network.rates[1:]:
            if at <= begins:
                continue
            possible = self.network.rate_at(begins) * 1000 * (at - begins)
            if possible >= bits:
                break
            bits -= possible
            begins = at
        return begins + bits / (self.network.rate_at(begins) * 1000)


class PIE:
    """RFC 8033 sections 4.2 and 5.1, without its allowance for bursts: a probability that follows the queue's delay."""

    TARGET, INTERVAL, ALPHA, BETA = 0.015, 0.015, 0.125, 1.25
    #: Below the first figure, the change is divided by the second.
    SCALES = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))

    def __init__(self, draws: random.Random):
        self.draws = draws
        self.probability = self.before = 0.0
        self.updated = float("-inf")

    def drops(self, seconds: float, delay: float) -> bool:
        if seconds - self.updated > 1:
            self.updated = seconds - self.INTERVAL
        while seconds - self.updated >= self.INTERVAL:
            change = self.ALPHA * (delay - self.TARGET) + self.BETA * (delay - self.before)
            change /= next((scale for limit, scale in self.SCALES if self.probability < limit), 1)
            self.probability = min(max(0.0, self.probability + change), 1.0)
            if delay == 0 and self.before == 0:
                self.probability *= 0.98
            self.before = delay
            self.updated += self.INTERVAL
        # One draw a packet, always.
        drawn = self.draws.random()
        return not (self.before < self.TARGET / 2 and self.probability < 0.2) and drawn < self.probability


# --- One way -------------------------------------------------------------------------------------------------------


@dataclass
class Second:
    """What came in within one second."""

    packets: int = 0
    bytes: int = 0
    lost: int = 0
    #: Longest wait in the bottleneck.
    queue_ms: float = 0.0
    #: Of the call, and of what goes beside it: bytes that went through, and packets of the call that came and were lost.
    call_bytes: int = 0
    call_packets: int = 0
    call_lost: int = 0
    beside_bytes: int = 0


@dataclass
class Way:
    """One direction, from its start on."""

    network: Network
    draws: random.Random
    packets: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    seconds: dict[int, Second] = field(default_factory=dict)

    #: A day; who runs longer gets no more seconds.
    MOST_SECONDS = 86_400

    def __post_init__(self) -> None:
        share = self.network.loss_percent / 100
        self.loss = (
            Runs(share, round(self.network.burst), self.draws)
            if self.network.is_exact
            else GilbertElliott(share, self.network.burst, self.draws)
        )
        self.bottleneck = Bottleneck(self.network)
        self.pie = PIE(random.Random(self.draws.random())) if self.network.has_pie else None

    @classmethod
    def pair(cls, network: Network, seed: int) -> "list[Way]":
        """Both ways. Neither has the other's pattern, nor that of any other seed."""
        return [cls(network, random.Random(f"{seed}/{direction}")) for direction in range(2)]

    def arrives_at(self, seconds: float, size: int, is_beside: bool = False) -> float | None:
        """For a packet of so many bytes that comes now; none when it is lost. `is_beside`: it is not the call's."""
        self.packets += 1
        second = self.seconds.setdefault(int(seconds // 1), Second()) if len(self.seconds) < self.MOST_SECONDS else Second()
        second.packets += 1
        second.bytes += size
        is_managed = self.pie is not None and self.pie.drops(seconds, max(0.0, self.bottleneck.free_at - seconds))
        leaves = None if is_managed else self.bottleneck.leaves_at(seconds, size)
        # Drawn for each, so that a queue that drops shifts nothing.
        is_taken = self.loss.takes_next()
        reason = (
            "queue" if leaves is None else "blackout" if is_black(self.network, leaves) else "loss" if is_taken else ""
        )
        second.call_packets += not is_beside
        if reason or leaves is None:
            self.lost[reason] += 1
            second.lost += 1
            second.call_lost += not is_beside
            return None
        second.queue_ms = max(second.queue_ms, (leaves - seconds) * 1000)
        if is_beside:
            second.beside_bytes += size
        else:
            second.call_bytes += size
        arrives = leaves + self.network.delay_ms / 1000
        if self.network.batch_ms:
            batch = self.network.batch_ms / 1000
            arrives = (arrives // batch + 1) * batch
        return arrives

    def document(self) -> dict[str, Any]:
        series = [
            [number, second.packets, second.bytes, second.lost, round(second.queue_ms, 1)]
            for number, second in sorted(self.seconds.items())
        ]
        carried = [
            {
                "second": number, "udp_all": second.call_packets, "udp_dropped": second.call_lost, "udp_all_bytes": second.call_bytes,
                "udp_dropped_bytes": 0, "tcp_all_bytes": second.beside_bytes, "tcp_dropped_bytes": 0,
            }
            for number, second in sorted(self.seconds.items())
        ]  # fmt: skip
        return {"carried": carried, "packets": self.packets, "lost": sum(self.lost.values()), "reasons": dict(self.lost), "seconds": series}


def shares_of_runs(fates: Sequence[bool]) -> tuple[float, float]:
    """Of packets in order, True where lost: the share that was lost, and the mean number in a row."""
    runs = sum(1 for before, after in zip([False, *fates], fates) if after and not before)
    lost = sum(fates)
    return lost / len(fates), lost / runs if runs else 0.0
