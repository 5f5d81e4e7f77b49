#!/usr/bin/env python3
"""`make fuzz`: runs the fuzz bodies for long, as many at a time as there are processors, and says what they found.

With --duration each body runs under libFuzzer and AddressSanitizer, which keep what reaches new code; with --count it
runs so many mutated inputs without either, which is ten times as fast. Then some bodies use what is costly to make for
several inputs: beside a finding there is a folder .row with the inputs up to it, for `cradle-fuzz try BODY FOLDER/*`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
#: Bodies whose inputs are whole files or rows of datagrams; the others take a datagram.
LONG = {"peer-connection": 16384, "sdp": 16384, "whep": 16384, "whep-client": 16384, "configuration": 16384}
MOST_BYTES = 4096
#: What the sources keep of a body's corpus.
SAVED_FILES = 50
SAVED_BYTES = 200_000


@dataclass
class Result:
    body: str
    inputs: int = 0
    seconds: float = 0
    coverage: int | None = None
    findings: list[Path] = field(default_factory=list)
    trouble: str = ""

    def line(self) -> str:
        rate = self.inputs / self.seconds if self.seconds else 0
        covered = f"  coverage {self.coverage}" if self.coverage is not None else ""
        return (f"{self.body:18} {self.inputs:>12,} inputs {rate:>10,.0f}/s{covered}  findings {len(self.findings)}"
                + (f"  {self.trouble}" if self.trouble else ""))


class Fuzzing:
    def __init__(self, program: Path, work: Path) -> None:
        self.program = program.resolve()
        self.work = work.resolve()
        self.environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0", "SWIFT_BACKTRACE": "enable=no"}

    def bodies(self) -> list[str]:
        return subprocess.run([self.program, "list"], check=True, capture_output=True, text=True).stdout.split()

    def corpus(self, body: str) -> Path:
        """The body's own inputs, those that the sources keep and what earlier runs found."""
        corpus = self.work / "corpus" / body
        corpus.mkdir(parents=True, exist_ok=True)
        subprocess.run([self.program, "seeds", body, corpus], check=True, env=self.environment)
        for kept in [*(FOLDER / "Corpus" / body).glob("*"), *(FOLDER / "Findings").glob(f"{body}-*.bin")]:
            shutil.copy(kept, corpus)
        return corpus

    def guided(self, body: str, seconds: int) -> Result:
        corpus = self.corpus(body)
        findings = self.work / "findings"
        findings.mkdir(parents=True, exist_ok=True)
        before = set(findings.glob(f"{body}-*"))
        process = self.libfuzzer(
            body, f"-max_total_time={seconds}", f"-max_len={LONG.get(body, MOST_BYTES)}",
            f"-artifact_prefix={findings}/{body}-", corpus)
        result = Result(body, findings=sorted(set(findings.glob(f"{body}-*")) - before))
        (self.work / f"{body}.log").write_text(process.stderr)
        for line in process.stderr.splitlines():
            if match := re.match(r"#(\d+)\s.* cov: (\d+)", line):
                result.inputs, result.coverage = int(match[1]), int(match[2])
            elif match := re.match(r"stat::number_of_executed_units:\s*(\d+)", line):
                result.inputs = int(match[1])
            elif match := re.match(r"Done (\d+) runs in (\d+) second", line):
                result.inputs, result.seconds = int(match[1]), int(match[2])
        result.seconds = result.seconds or seconds
        if process.returncode != 0 and not result.findings:
            result.trouble = f"ended with status {process.returncode}: see {self.work / (body + '.log')}"
        return result

    def counted(self, body: str, count: int, seed: int) -> Result:
        corpus = self.corpus(body)
        last = self.work / f"{body}.last"
        process = subprocess.run(
            ["nice", self.program, "run", body, str(count), str(seed), last, corpus],
            env=self.environment, capture_output=True, text=True)
        if match := re.search(r"DONE (\d+) (\d+)", process.stdout):
            return Result(body, int(match[1]), int(match[1]) / max(1, int(match[2])))
        inputs, row = last_inputs(last.read_bytes())
        if not row:
            return Result(body, trouble=f"ended with status {process.returncode}")
        finding = self.work / "findings" / f"{body}-crash-{hashlib.sha1(row[-1]).hexdigest()}"
        before = finding.with_name(finding.name + ".row")
        before.mkdir(parents=True, exist_ok=True)
        finding.write_bytes(row[-1])
        for index, data in enumerate(row):
            (before / f"{index:02}").write_bytes(data)
        return Result(body, inputs, findings=[finding], trouble=f"ended with status {process.returncode}")

    def save(self, body: str) -> str:
        """Minimises what runs found into the folder of the sources: what reaches most with the fewest bytes."""
        merged = self.work / "merged" / body
        shutil.rmtree(merged, ignore_errors=True)
        merged.mkdir(parents=True)
        self.libfuzzer(body, "-merge=1", f"-max_len={LONG.get(body, MOST_BYTES)}", merged, self.corpus(body))
        kept = FOLDER / "Corpus" / body
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        inputs = sorted(merged.iterdir(), key=lambda file: (file.stat().st_size, file.name))
        # Of more than there is room for, some of every size.
        if len(inputs) > SAVED_FILES:
            inputs = [inputs[index * len(inputs) // SAVED_FILES] for index in range(SAVED_FILES)]
        room = SAVED_BYTES
        for file in inputs:
            room -= file.stat().st_size
            if room < 0:
                break
            shutil.copy(file, kept / file.name[:16])
        return f"{body:18} {len(list(merged.iterdir()))} inputs reach everything, {len(list(kept.iterdir()))} kept"

    def libfuzzer(self, body: str, *options: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["nice", self.program, "-timeout=5", "-rss_limit_mb=2048", "-detect_leaks=0", "-print_final_stats=1",
             *options], env=self.environment | {"FUZZ_BODY": body}, capture_output=True, text=True, errors="replace")


def last_inputs(kept: bytes) -> tuple[int, list[bytes]]:
    """How many inputs there were, and the last of them in order (LastInputs.swift says how they are kept)."""
    def number(at: int) -> int:
        return int.from_bytes(kept[at:at + 8], sys.byteorder)

    inputs, places, place_bytes = (number(at) for at in (0, 8, 16))
    row = []
    for index in range(max(0, inputs - places), inputs):
        start = 24 + index % places * place_bytes
        row.append(kept[start + 8:start + 8 + number(start)])
    return inputs, row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help="cradle-fuzz, built for the mode")
    parser.add_argument("--work", type=Path, required=True, help="folder for corpora, findings and logs")
    parser.add_argument("--body", action="append", help="only this one; may be repeated")
    parser.add_argument("--duration", type=int, default=60, help="seconds for each body under libFuzzer")
    parser.add_argument("--count", type=int, help="inputs for each body, without libFuzzer")
    parser.add_argument("--seed", type=int, default=None, help="of --count; another one each time without it")
    parser.add_argument("--save", action="store_true", help="minimises the corpora into Tests/Fuzz/Corpus")
    arguments = parser.parse_args()

    fuzzing = Fuzzing(arguments.program, arguments.work)
    bodies = fuzzing.bodies()
    if unknown := set(arguments.body or []) - set(bodies):
        print(f"No body {', '.join(sorted(unknown))}; there are {' '.join(bodies)}.")
        return 64
    seed = arguments.seed if arguments.seed is not None else random.getrandbits(32)

    def run(body: str) -> Result:
        try:
            if arguments.count:
                result = fuzzing.counted(body, arguments.count, seed)
            else:
                result = fuzzing.guided(body, arguments.duration)
        except subprocess.CalledProcessError as error:
            result = Result(body, trouble=str(error))
        print(result.line(), flush=True)
        return result

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        chosen = arguments.body or bodies
        if arguments.save:
            for line in pool.map(fuzzing.save, chosen):
                print(line, flush=True)
            return 0
        results = list(pool.map(run, chosen))
    failures = [result for result in results if result.findings or result.trouble]
    for result in failures:
        for finding in result.findings:
            print(f"{result.body}: {finding}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
