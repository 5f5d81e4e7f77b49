#!/usr/bin/env python3
"""The figures of `make bench-network`: what is left of picture and sound over bad networks, ours beside others'.

Sender and viewer run on two hosts of their own (network/cable.py). The network is good until the picture has found its
rate; then it becomes bad, with the same seed for everybody, and what the viewer has from then on counts. docs/NETWORK.md.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import queue
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable

import cores
from network import crowd as network_crowd
from network import figures as network_figures
from network import moves as network_moves
import network_table
from measures.load import frames_so_far
from network.downloads import Downloads
from network.limited_cable import Limit, LimitedCable
from network.cable import NetworkCable
from network.cases import CASES, Case
from network.crowd import CROWDS, Crowd
from network.moves import MOVES, Move
from servers import KBPS, PROGRAMS, ChromiumSender, MeasuredChild, Problem, Server, Webrtcbin
from cradle import processes

#: From the first picture until the network becomes bad: everybody's rate has grown to what it may be, and the browsers of
#: those that are measured at the same time have started, which takes both processors for some seconds. libwebrtc begins
#: with a small picture, and takes its time until it is a large one.
SETTLE_SECONDS = {"ours": 15, "webrtcbin": 15, "libwebrtc": 30, "parent": 15}
#: The lowest and the highest rate of our picture; the others have the highest alone.
OUR_KBPS = (150, KBPS)
ENCODER_SPEED = -8


class Bench:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        #: By the name of a peer: who sends over this cable.
        self.senders: dict[str, Callable[[Any], Server]] = {
            "ours": lambda cable: MeasuredChild(options.child, cable, kbps=OUR_KBPS),
            "webrtcbin": lambda cable: Webrtcbin(options.benchmarks, ENCODER_SPEED, cable=cable),
            "libwebrtc": lambda cable: ChromiumSender(cable),
            "parent": lambda cable: MeasuredChild(options.child, cable, kbps=OUR_KBPS),
        }

    def run(self, case: Case | Move | Crowd, peer: str, seed: int) -> dict[str, Any]:
        """One run, and what the machine had to do meanwhile."""
        load, stolen, busy, began = os.getloadavg()[0], cores.stolen_seconds(), cores.busy_seconds(), time.monotonic()
        match case:
            case Move():
                found = network_moves.measure(case, self.options.child, self.options.parent)
            case Crowd():
                programs = (self.options.child, self.options.parent, self.options.benchmarks)
                found = network_crowd.measure(case, programs, OUR_KBPS, seed, self.options.seconds / 2, self._parent_at)
            case _:
                found = self._watch(case, peer, seed)
        took = (time.monotonic() - began) * (os.cpu_count() or 1) / 100
        return {
            "case": case.name, "peer": peer, "seed": seed, "seconds": self.options.seconds, "time": time.time(),
            "atOnce": self.options.at_once,
            # Of all processors, by everybody; and what other machines on the host took away.
            "load": load, "busyPercent": round((cores.busy_seconds() - busy) / took, 1),
            "stolenPercent": round((cores.stolen_seconds() - stolen) / took, 2), **found,
        }  # fmt: skip

    def _watch_limited(self, case: Case, limit: Limit, peer: str) -> dict[str, Any]:
        """As somebody's line is: limited before anybody watches."""
        seconds = self.options.seconds
        estimates: list[tuple[float, float]] = []
        with LimitedCable(limit) as cable:
            with self.senders[peer](cable) as sender:
                cable.start()
                with (self._parent if peer == "parent" else self._chromium)(cable, sender, seconds) as viewer:
                    viewer.wait_for_picture()
                    started = time.time()
                    while time.time() < started + seconds:
                        time.sleep(min(2.0, max(0.0, started + seconds - time.time())))
                        if isinstance(sender, MeasuredChild):
                            at = time.time() - started
                            estimates += [(at, kbps) for kbps in sender.estimates()]
                    record, extra = viewer.finish(started, seconds)
            carried = cable.since(started)
        frozen = [(at, length) for at, length in record.freezes if 0 < at <= seconds]
        begins = network_figures.FINDING_SECONDS + (limit.flows_begin if limit.flows else 0)
        beside = (
            network_figures.beside(carried, frozen, limit.rates[0][1], begins, estimates, seconds) if limit.bucket is not None else None
        )
        seen = replace(network_figures.seen(record, seconds, case.falls(seconds)), beside=beside, **extra.pop("browser", {}))
        return {"seen": seen, "short": case.judge(seen), "carried": carried, "estimates": estimates, **extra}

    def _watch(self, case: Case, peer: str, seed: int) -> dict[str, Any]:
        seconds = self.options.seconds
        if isinstance(limit := case.network(seconds), Limit):
            return self._watch_limited(case, limit, peer)
        network = case.network(seconds)
        with NetworkCable(network, seed, is_clean_at_first=True) as cable:
            with self.senders[peer](cable) as sender:
                settle = SETTLE_SECONDS[peer]
                viewer = (self._parent if peer == "parent" else self._chromium)(cable, sender, settle + seconds)
                with viewer:
                    viewer.wait_for_picture()
                    time.sleep(settle)
                    before = frames_so_far(sender) if isinstance(sender, MeasuredChild) else None
                    started = cable.start()
                    with Downloads(cable, network.flows, network.flows_begin):
                        time.sleep(seconds)
                    # While somebody still watches: a child that nobody watches encodes nothing.
                    after = frames_so_far(sender) if isinstance(sender, MeasuredChild) else None
                    record, extra = viewer.finish(started, seconds)
                if before and after:
                    # A busy machine encodes fewer than the camera takes.
                    extra |= {"encodedPerSecond": (after[1] - before[1]) / (after[0] - before[0]), "camera": sender.camera()}
        beside = None
        if network.flows:
            frozen = [(at, length) for at, length in record.freezes if 0 < at <= seconds]
            begins = network_figures.FINDING_SECONDS + network.flows_begin
            beside = network_figures.beside(cable.carried[0]["carried"], frozen, network.rates[0][1], begins, ended=seconds)
        seen = replace(network_figures.seen(record, seconds, case.falls(seconds)), beside=beside, **extra.pop("browser", {}))
        return {"seen": seen, "short": case.judge(seen), "carried": cable.carried, **extra}

    def _chromium(self, cable: NetworkCable, sender: Server, seconds: float) -> "Viewer":
        command = [sys.executable, str(PROGRAMS / "network_viewer.py"), "--url", sender.url, "--duration", str(seconds + 2)]
        if not (self.options.messages and isinstance(sender, MeasuredChild)):
            command.append("--no-data-channel")
        return ChromiumViewer([*cable.prefix(1), *command] + (["--token", sender.token] if sender.token else []))

    def _parent(self, cable: NetworkCable, sender: Server, seconds: float) -> "Viewer":
        assert isinstance(sender, MeasuredChild)
        return self._parent_at(cable, sender.url, sender, seconds)

    def _parent_at(self, cable: NetworkCable, url: str, child: MeasuredChild, seconds: float) -> "Viewer":
        # Each with a token and a memory of its own.
        who = cable.address(1)
        command = [self.options.parent, "watch", "--whep", url, "--token", child.another_token(who)]
        command += ["--state-directory", f"{child.known_to}-{who}"]
        return ParentViewer([*cable.prefix(1), *command, "--mute", "--stats", "--no-window", "--duration", str(seconds + 4)])


# --- Viewers -------------------------------------------------------------------------------------------------------


class Viewer:
    """A program that tells what it sees in lines of JSON; `with` ends it."""

    name = ""

    def __init__(self, command: list[str]):
        self.log = Path(processes.temporary_directory("viewer")) / "log"
        with self.log.open("wb") as log:
            self.program = processes.start_process(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        #: (unix time at which it came, line), then None.
        self.lines: queue.Queue[tuple[float, dict[str, Any]] | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.program.stdout:
            try:
                self.lines.put((time.time(), dict(json.loads(line))))
            except ValueError:
                continue
        self.lines.put(None)

    def next_line(self, patience: float) -> tuple[float, dict[str, Any]]:
        try:
            found = self.lines.get(timeout=patience)
        except queue.Empty:
            found = None
        if found is None:
            raise Problem(f"{self.name} tells nothing more: {self.log.read_text('utf-8', 'replace')[-600:].strip()}")
        return found

    def wait_for_picture(self) -> None:
        raise NotImplementedError

    def finish(self, started: float, seconds: float) -> tuple[network_figures.Record, dict[str, Any]]:
        """What it saw, and more that is worth keeping; `browser` goes into the figures."""
        raise NotImplementedError

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *_: Any) -> None:
        processes.end_process(self.program)


class ChromiumViewer(Viewer):
    name = "Chromium"

    def wait_for_picture(self) -> None:
        line = self.next_line(90)[1]
        if line.get("event") != "flows":
            raise Problem(f"Chromium: {line.get('error')}")

    def finish(self, started: float, seconds: float) -> tuple[network_figures.Record, dict[str, Any]]:
        result = self.next_line(seconds + 60)[1]
        if result["error"] and not result["pictures"]:
            raise Problem(f"Chromium: {result['error']}")
        record = network_figures.of_browser(result, started, seconds)
        return record, {"error": result["error"], "browser": self._own_counts(result, started, seconds), "last": result["samples"][-1:]}

    @staticmethod
    def _own_counts(result: dict[str, Any], started: float, seconds: float) -> dict[str, Any]:
        within = [
            sample["video"] for sample in result["samples"]
            if started <= sample["time"] / 1000 <= started + seconds + 1 and "video" in sample
        ]  # fmt: skip
        if len(within) < 2:
            return {}
        counts = [within[-1].get(name, 0) - within[0].get(name, 0) for name in ("freezeCount", "totalFreezesDuration")]
        return {"browser_freezes": counts[0], "browser_frozen_seconds": round(counts[1], 3)}


class ParentViewer(Viewer):
    name = "cradle-parent"

    def __init__(self, command: list[str]):
        super().__init__(command)
        self.told: list[tuple[float, dict[str, Any]]] = []

    def wait_for_picture(self) -> None:
        until = time.monotonic() + 30
        while not (self.told and self.told[-1][1].get("framesDecoded")):
            self.told.append(self.next_line(max(1.0, until - time.monotonic())))

    def finish(self, started: float, seconds: float) -> tuple[network_figures.Record, dict[str, Any]]:
        while not self.told or self.told[-1][0] < started + seconds + 1.5:
            self.told.append(self.next_line(20))
            if self.told[-1][1]["state"] == "ended":
                break
        latency = self.told[-1][1].get("latencyMs")
        alarms = [line["alarm"]["kind"] for _, line in self.told if line.get("alarm")]
        return network_figures.of_parent(self.told, started), {
            # Since it began: it does not tell by the second.
            "browser": {f"delay_{share}_ms": latency[share] for share in ("p50", "p95")} if latency else {},
            "alarms": list(dict.fromkeys(alarms)),
            "lines": [line for _, line in self.told],
        }  # fmt: skip


# --- The program ---------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", required=True, help="the cradle-child program")
    parser.add_argument("--parent", required=True, help="the cradle-parent program")
    parser.add_argument("--benchmarks", required=True, help="the cradle-benchmarks program")
    cases = [*CASES, *CROWDS, *MOVES]
    parser.add_argument("--case", action="append", default=[], metavar="NAME,…", help=f"of {', '.join(case.name for case in cases)}")
    parser.add_argument("--peers", default=",".join(network_table.PEERS), help="of ours, webrtcbin, libwebrtc, parent")
    parser.add_argument("--seconds", type=float, help="of each run, beside the settling (120; quick: 24)")
    parser.add_argument("--seeds", type=int, help="how many; the worst one counts (3; quick: 1)")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=1, help="how many peers at a time, each with a network of its own (1)")
    parser.add_argument("--messages", action="store_true", help="Chromium opens the control channel of Cradle's child, as Cradle's own page does")
    parser.add_argument("--quick", action="store_true", help="short runs, one seed: to see that all of it works")
    parser.add_argument("--json", metavar="FILE", help="write everything that was measured, with each second")
    parser.add_argument("--write", metavar="FILE", help="renew these rows of the table in this Markdown file")
    options = parser.parse_args()
    options.seconds = options.seconds or (24 if options.quick else 120)
    options.seeds = options.seeds or (1 if options.quick else 3)
    names = [name for argument in options.case for name in argument.split(",")]
    peers = options.peers.split(",")
    for unknown in (set(names) - {case.name for case in cases}) | (set(peers) - set(network_table.PEERS)):
        parser.error(f"there is no {unknown}")
    if options.at_once < 1:
        parser.error("--at-once: 1 or more")
    if os.geteuid() != 0:
        parser.error("two hosts in network namespaces need root")
    chosen = [case for case in cases if case.name in names or not names]
    long = sum(1 for case in chosen if isinstance(case, Case))
    groups = [peers[start : start + options.at_once] for start in range(0, len(peers), options.at_once)]
    minutes = long * options.seeds * sum(options.seconds + max(SETTLE_SECONDS[peer] for peer in group) + 8 for group in groups) / 60
    processes.log(f"This takes about {minutes:.0f} minutes, and counts for something on a quiet machine only.")
    bench = Bench(options)
    results: list[dict[str, Any]] = []
    for case in chosen:
        processes.log(f"{case.name}: {case.title}")
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            # Everybody has a network to himself, with the same seed.
            # Some cases have a child alone.
            alone = {Move: "parent", Crowd: "ours"}.get(type(case))
            for group in groups:
                chosen_peers = [peer for peer in group if alone in (None, peer)]
                with concurrent.futures.ThreadPoolExecutor(max_workers=options.at_once) as workers:
                    results += workers.map(lambda peer: attempt(bench, case, peer, seed), chosen_peers)
                # A run that is cut short keeps what it has.
                if options.json:
                    Path(options.json).write_text(json.dumps([plain(result) for result in results]) + "\n")
    print("\n".join(network_table.lines(results)))
    if options.write:
        network_table.write(Path(options.write), results)
    return 1 if any("problem" in result for result in results) else 0


def attempt(bench: Bench, case: Case | Move | Crowd, peer: str, seed: int) -> dict[str, Any]:
    try:
        result = bench.run(case, peer, seed)
    except (Problem, network_moves.house.Problem, RuntimeError, OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
        # One run less is no reason to lose the others.
        processes.log(traceback.format_exc())
        return {"case": case.name, "peer": peer, "seed": seed, "seconds": bench.options.seconds, "problem": f"{type(error).__name__}: {error}"}
    seen = str(result["seen"]) if "seen" in result else network_table.in_words(result)
    verdict = f"; SHORT: {', '.join(result['short'])}" if result["short"] else ""
    encoded = f", {result['encodedPerSecond']:.1f} encoded a second" if "encodedPerSecond" in result else ""
    processes.log(f"  {peer}, seed {seed}: {seen}{verdict} (busy {result['busyPercent']:.0f} %, load {result['load']:.1f}{encoded})")
    return result


def plain(result: dict[str, Any]) -> dict[str, Any]:
    return result | ({"seen": result["seen"].document()} if "seen" in result else {})


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
