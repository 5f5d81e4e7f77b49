#!/usr/bin/env python3
"""Tries models.py; needs no root, no network and no time. `python3 -m unittest network.models_test`"""

from __future__ import annotations

import random
import unittest

from network.models import Bottleneck, GilbertElliott, Network, Runs, Way, is_black, shares_of_runs

PACKETS = 200_000


class Loss(unittest.TestCase):
    def test_the_share_and_the_mean_burst_are_those_that_were_asked_for(self) -> None:
        for share, burst in ((0.02, 1), (0.1, 1), (0.2, 1), (0.1, 3), (0.1, 100)):
            model = GilbertElliott(share, burst, random.Random(1))
            lost, mean = shares_of_runs([model.takes_next() for _ in range(PACKETS * (10 if burst > 10 else 1))])
            self.assertAlmostEqual(lost, share, delta=share / 15)
            # Independent losses also follow each other by chance.
            self.assertAlmostEqual(mean, burst if burst > 1 else 1 / (1 - share), delta=burst / 15)

    def test_runs_have_their_length_each_time(self) -> None:
        model = Runs(0.1, 5, random.Random(1))
        fates = [model.takes_next() for _ in range(PACKETS)]
        self.assertAlmostEqual(shares_of_runs(fates)[0], 0.1, delta=0.005)
        lengths = [len(run) for run in "".join("x" if fate else " " for fate in fates).split()]
        self.assertEqual({length % 5 for length in lengths[:-1]}, {0})

    def test_who_is_lost_is_a_matter_of_seed_and_number_alone(self) -> None:
        network = Network(loss_percent=10, burst=3, rates=((0, 3000),), queue_ms=5)

        def fates(seed: int, direction: int, spacing: float) -> list[bool]:
            way = Way.pair(network, seed)[direction]
            return [way.loss.takes_next() for _ in range(500)] if not spacing else [
                way.arrives_at(number * spacing, 1000) is None for number in range(500)]  # fmt: skip

        self.assertEqual(fates(1, 0, 0), fates(1, 0, 0.01))
        self.assertNotEqual(fates(1, 0, 0), fates(1, 1, 0))
        self.assertNotEqual(fates(1, 1, 0), fates(2, 0, 0))
        # A queue that is full drops more, and shifts nothing.
        crowded = fates(1, 0, 0.001)
        self.assertTrue(all(full for full, lost in zip(crowded, fates(1, 0, 0)) if lost))
        self.assertGreater(sum(crowded), sum(fates(1, 0, 0)))

    def test_nothing_passes_in_a_blackout_and_everything_between(self) -> None:
        way = Way.pair(Network(blackout_ms=200, blackout_every_s=10), 1)[0]
        lost = [number for number in range(3000) if way.arrives_at(number / 100, 100) is None]
        # Hundredths of a second; the last one of a blackout may fall on either side.
        for begins, some in ((begins, [at for at in lost if at // 1000 == begins // 1000]) for begins in (500, 1500, 2500)):
            self.assertEqual(some[:20], list(range(begins, begins + 20)))
            self.assertLessEqual(len(some), 21)
        self.assertFalse(is_black(Network(), 5))

    def test_pie_keeps_the_queue_short_and_a_batch_comes_together(self) -> None:
        way = Way.pair(Network(rates=((0, 2000),), has_pie=True), 1)[0]
        waits = []
        for number in range(20_000):
            at = number * 0.005
            arrives = way.arrives_at(at, 1500, is_beside=number % 2 == 0)
            if arrives is not None and at > 20:
                waits.append(arrives - at)
        # 2.4 Mbit/s into 2: a sixth has to go, and the rest waits about 15 ms, with 6 for itself and 10 of the way.
        self.assertAlmostEqual(way.lost["queue"] / 20_000, 1 / 6, delta=0.03)
        self.assertLess(sorted(waits)[len(waits) * 95 // 100], 0.08)
        carried = way.document()["carried"][50]
        self.assertAlmostEqual((carried["udp_all_bytes"] + carried["tcp_all_bytes"]) * 8, 2e6, delta=1e5)
        batched = Way.pair(Network(batch_ms=150), 1)[0]
        self.assertEqual(len({batched.arrives_at(number / 1000, 100) for number in range(140)}), 1)

    def test_impossible_networks_are_refused(self) -> None:
        for fields in ({"loss_percent": 100}, {"burst": 0.5}, {"rates": ((0, 0),)}, {"rates": ((5, 100), (0, 200))}):
            with self.assertRaises(ValueError):
                Network(**fields)


class Queue(unittest.TestCase):
    def test_packets_leave_at_the_rate_and_wait_for_each_other(self) -> None:
        queue = Bottleneck(Network(rates=((0, 1000),)))
        # 1000 bytes at 1 Mbit/s: 8 ms each.
        times = [queue.leaves_at(0, 1000) for _ in range(3)]
        for found, expected in zip(times, (0.008, 0.016, 0.024)):
            self.assertAlmostEqual(found, expected)
        self.assertAlmostEqual(queue.leaves_at(1, 1000), 1.008)

    def test_what_would_wait_longer_than_the_queue_is_dropped(self) -> None:
        queue = Bottleneck(Network(rates=((0, 1000),), queue_ms=100))
        passed = [at for at in (queue.leaves_at(0, 1250) for _ in range(100)) if at is not None]
        # 10 ms each: ten of them are 100 ms, one more still finds room.
        self.assertEqual(len(passed), 11)
        self.assertIsNotNone(queue.leaves_at(0.05, 1250))

    def test_a_lower_rate_holds_for_what_is_waiting(self) -> None:
        queue = Bottleneck(Network(rates=((0, 1000), (1, 100)), queue_ms=500))
        self.assertAlmostEqual(queue.leaves_at(0.996, 1000), 1.04)  # half at 1000, half at 100 kbit/s
        self.assertAlmostEqual(queue.leaves_at(1.0, 1000), 1.12)
        queue = Bottleneck(Network(rates=((0, 100), (1, 1000))))
        self.assertAlmostEqual(queue.leaves_at(-5, 1000), -4.92)

    def test_a_second_tells_what_it_did(self) -> None:
        way = Way.pair(Network(delay_ms=10, rates=((0, 1000),), queue_ms=8), 1)[0]
        self.assertAlmostEqual(way.arrives_at(0.5, 1000), 0.518)
        self.assertAlmostEqual(way.arrives_at(0.5, 1000), 0.526)
        self.assertIsNone(way.arrives_at(0.5, 1000))
        found = way.document()
        self.assertEqual(found["reasons"], {"queue": 1})
        self.assertEqual(found["seconds"], [[0, 3, 3000, 1, 16.0]])

    def test_a_network_survives_being_written_down(self) -> None:
        network = Network(loss_percent=10, burst=3, rates=((0, 3000), (20, 500)), queue_ms=2000)
        self.assertEqual(Network.of(network.document() | {"rates": [[0, 3000], [20, 500]]}), network)


if __name__ == "__main__":
    unittest.main()
