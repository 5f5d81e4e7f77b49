"""`make soak`: connects, watches half a second and leaves, thousands of times and in every way there is, then lets eight
viewers watch for minutes. Descriptors, threads and memory of the child have to be back where they were.

Only the standard library here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cradle.child import Child

#: The child forgets a viewer that vanished after 30 s (RFC 7675), and looks each second.
FORGETTING_SECONDS = 34
#: A child takes four sessions of one token, and those of viewers that vanished count for some seconds.
TOKENS = 16
#: What may remain: pages that the allocator keeps, glibc's caches of threads that are there anyway.
MEMORY_SLACK_KB = 2048


CONFIGURATION = "cameras: [{id: cot, device: test, width: 640, height: 360, framerate: 30}]\nmicrophone: {device: test}\n"


class SoakedChild(Child):
    """With a small test picture, and tokens for all."""

    def __init__(self, program: str, folder: Path):
        super().__init__(program, CONFIGURATION, folder)
        self.tokens = [self.add_token(f"soak {number}") for number in range(TOKENS)]

    def usage(self) -> dict[str, int]:
        process = Path("/proc") / str(self.process.pid)
        text = (process / "status").read_text()
        number = lambda name: int(re.search(rf"^{name}:\s+(\d+)", text, re.M).group(1))  # type: ignore[union-attr]
        return {"descriptors": len(list((process / "fd").iterdir())), "threads": number("Threads"),
                "anonymousKb": number("RssAnon")}

    def wait_until_alone(self) -> dict[str, int]:
        """What the child holds once it has noticed that everybody has gone."""
        deadline = time.monotonic() + FORGETTING_SECONDS + 20
        while time.monotonic() < deadline:
            status = self.status()
            if status is not None and not status["viewers"]:
                # It gives back what it freed a moment after the last one has gone.
                time.sleep(7)
                return self.usage()
            time.sleep(0.5)
        raise SystemExit("the child still counts viewers long after the last one has gone")


def say(text: str) -> None:
    print(text, flush=True)


def soak(tool: str, child: SoakedChild, cycles: int) -> bool:
    done = subprocess.run(
        [tool, "--whep", child.whep, "--tokens", ",".join(child.tokens), "--cycles", str(cycles)], capture_output=True, text=True)
    say("  " + done.stdout.strip().replace("\n", ", "))
    if done.returncode != 0:
        say("  " + done.stderr[-500:])
    return done.returncode == 0


def kill_viewers(parent: str, child: SoakedChild, count: int, state: Path) -> int:
    """Viewers that are killed while they watch; how many had a picture by then."""
    watched = 0
    for number in range(count):
        process = subprocess.Popen(
            [parent, "watch", "--whep", child.whep, "--mute", "--stats", "--state-directory", str(state)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "CRADLE_TOKEN": child.tokens[number % TOKENS]})
        assert process.stdout is not None
        line = process.stdout.readline()
        watched += bool(line) and json.loads(line)["framesDecoded"] > 0
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    return watched


def stay(parent: str, child: SoakedChild, viewers: int, seconds: float, state: Path) -> bool:
    """Many viewers for long: memory has to stay flat, and each has to get its pictures."""
    watchers = [
        subprocess.Popen(
            [parent, "watch", "--whep", child.whep, "--mute", "--stats", "--state-directory", str(state),
             "--duration", str(seconds)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "CRADLE_TOKEN": child.tokens[number % TOKENS]})
        for number in range(viewers)
    ]
    samples: list[dict[str, int]] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end - 1:
        time.sleep(min(10.0, max(0.5, seconds / 20)))
        samples.append(child.usage())
    rates = []
    for watcher in watchers:
        output, _ = watcher.communicate()
        last = json.loads(output.strip().splitlines()[-1])
        rates.append(last["framesPerSecond"])
    settled = samples[len(samples) // 5:]
    first, last = settled[0], settled[-1]
    say(f"  {viewers} viewers, {seconds:.0f} s: frames a second {min(rates):.1f} to {max(rates):.1f}; memory "
        f"{first['anonymousKb']} → {last['anonymousKb']} KB, descriptors {first['descriptors']} → "
        f"{last['descriptors']}, threads {first['threads']} → {last['threads']}")
    return (last["anonymousKb"] <= first["anonymousKb"] + MEMORY_SLACK_KB and last["threads"] == first["threads"]
            and last["descriptors"] <= first["descriptors"] and min(rates) > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--soak", required=True, help="the cradle-soak program")
    parser.add_argument("--cycles", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="cradle-soak-") as name:
        folder = Path(name)
        child = SoakedChild(options.child, folder)
        try:
            # The first viewers make what stays: the encoder, the allocator's arenas.
            say("Warming up ...")
            soak(options.soak, child, 40)
            before = child.wait_until_alone()
            say(f"{options.cycles} viewers that come and go ...")
            killed = options.cycles // 20
            began = time.monotonic()
            good = soak(options.soak, child, options.cycles - killed) and good
            watched = kill_viewers(options.parent, child, killed, folder / "parent")
            say(f"  killed {killed}, of which {watched} had a picture; {time.monotonic() - began:.0f} s in all")
            good = good and watched == killed
            after = child.wait_until_alone()
            say(f"  before {before}")
            say(f"  after  {after}")
            grown = after["anonymousKb"] - before["anonymousKb"]
            good = (good and grown <= MEMORY_SLACK_KB and after["descriptors"] <= before["descriptors"]
                    and after["threads"] <= before["threads"])
            say("Many viewers for long ...")
            good = stay(options.parent, child, 8, options.minutes * 60, folder / "parent") and good
        finally:
            child.close()
    say("Everything was given back." if good else "SHORT: see above.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
