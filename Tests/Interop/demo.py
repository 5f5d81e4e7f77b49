"""`make demo`: a child with this machine's camera and microphone (else test picture and tone), and a parent that finds it,
pairs with it, watches, gives orders and unpairs again. Prints how long each took, saves what was seen, and leaves the
child running until Ctrl-C.

Only the standard library here.
"""

from __future__ import annotations

import argparse
import array
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from cradle import avahi
from cradle.child import Child, ChildError

#: Seconds that the parent watches.
WATCH_SECONDS = 8


def say(text: str = "") -> None:
    print(text, flush=True)


def run_json(command: list[str]) -> Any:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip() or f"{command[0]} failed")
    return json.loads(done.stdout)


def choose_devices(child: str) -> tuple[str, str]:
    """`auto` for what the machine has, `test` for what it has not, and a line that says which."""
    devices = run_json([child, "devices", "--json"])
    cameras = [c for c in devices["cameras"] if c["modes"]]
    microphones = [m for m in devices["microphones"] if m["isHardware"]]
    camera = "auto" if cameras else "test"
    microphone = "auto" if microphones else "test"
    say(f"Camera:      {cameras[0]['name'] if cameras else 'none here, so a test picture'}")
    say(f"Microphone:  {microphones[0]['name'] if microphones else 'none here, so a test tone'}")
    return camera, microphone


def own_address() -> str:
    """The address that another device in the house would use. No packet is sent for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "localhost"


def configuration(program: str, speaker: Path) -> str:
    """A second camera to switch to, a light without a lamp, and a speaker that writes down what it would play."""
    camera, microphone = choose_devices(program)
    return (
        f"name: Demo\ncameras:\n  - {{id: cot, device: {camera}}}\n"
        "  - {id: door, device: test, width: 640, height: 360}\n"
        f"microphone: {{device: {microphone}}}\nspeaker: {{device: 'file:{speaker}'}}\n"
        "lights:\n  - {id: nightlight, device: simulated}\n")


class Parent:
    """The parent's commands, each timed as a person would: from Return to the prompt."""

    def __init__(self, program: str, state: Path) -> None:
        self.program, self.state = program, state

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments, "--state-directory", str(self.state)], capture_output=True, text=True)

    def step(self, title: str, *arguments: str) -> str:
        """Does it, says how long it took and what came of it. Ends the demonstration when it fails."""
        began = time.monotonic()
        done = self.run(*arguments)
        took = (time.monotonic() - began) * 1000
        if done.returncode != 0:
            raise SystemExit(f"{title} failed: {done.stderr.strip()}")
        say(f"  {title:16} {took:6.0f} ms   {' · '.join(done.stdout.strip().splitlines())}")
        return done.stdout

    def find(self, name: str) -> bool:
        """Whether the child is found by DNS-SD: where Avahi runs."""
        began = time.monotonic()
        look = subprocess.Popen(
            [self.program, "discover", "--json", "--timeout", "5s"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        assert look.stdout
        found = next((child for child in map(json.loads, look.stdout) if child["name"] == name), None)
        took = (time.monotonic() - began) * 1000
        look.terminate()
        look.wait()
        if found:
            say(f"  {'discover':16} {took:6.0f} ms   {found['name']} ({found['id']}) on {found['host']}:{found['port']}")
        else:
            say("  discover                   no Avahi answers here, so the child is named by its address")
        return found is not None

    def watch(self, picture: Path) -> dict[str, Any]:
        """The figures over the whole time, which are the last line."""
        done = self.run(
            "watch", "--mute", "--stats", "--duration", str(WATCH_SECONDS), "--snapshot", str(picture))
        lines = done.stdout.strip().splitlines()
        if done.returncode != 0 or not lines:
            raise SystemExit("The parent could not watch:\n" + done.stderr[-2000:])
        return dict(json.loads(lines[-1]))


def loudness(sound: Path, start: int) -> float:
    """dB below full scale of the loudest tenth of a second from a byte on, of 48 kHz mono 16-bit samples."""
    samples = array.array("h", sound.read_bytes()[start & ~1:][: 1 << 20])
    loudest = max((sum(s * s for s in samples[i:i + 4800]) / 4800 for i in range(0, len(samples) - 4800, 4800)), default=0)
    return 10 * math.log10(max(loudest, 1e-3) / 32768**2)


def number(value: Any, unit: str) -> str:
    return f"{value:.0f} {unit}" if isinstance(value, (int, float)) else "not measured"


def show(result: dict[str, Any], picture: Path) -> bool:
    latency = result.get("latencyMs")
    delay = (f"{latency['p50']} ms median, {latency['p95']} ms at worst in 19 of 20" if latency
             else f"about {number(result.get('latencyEstimateMs'), 'ms')}; the picture carries no timecode")
    say(f"  first picture after    {number(result.get('timeToFirstFrameMs'), 'ms')}")
    say(f"  frames a second        {result['framesPerSecond']:.1f}  ({result.get('width')}x{result.get('height')}, "
        f"{result['freezeCount']} freezes)")
    say(f"  delay, glass to glass  {delay}")
    say(f"  sound                  level {number(result.get('audioLevelDb'), 'dB')}, "
        f"{result.get('concealedPercent', 0)} % made up")
    say(f"  packets lost           {result['packetsLost']}")
    if picture.exists():
        say(f"  what it saw            {picture}")
    return result["framesDecoded"] > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", required=True, help="the cradle-child program")
    parser.add_argument("--parent", required=True, help="the cradle-parent program")
    parser.add_argument("--once", action="store_true", help="end after the figures instead of waiting for Ctrl-C")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    folder = Path(tempfile.mkdtemp(prefix="cradle-demo-"))
    picture = Path(os.path.abspath(".build")) / "demo.jpg"
    child = None
    daemons = ExitStack()
    try:
        if not avahi.is_running() and avahi.can_start():
            try:
                os.environ.update(daemons.enter_context(avahi.Avahi("cradle-demo")).environment)
                say("Avahi:       none runs here, so one for this demonstration alone")
            except RuntimeError as error:
                say(f"Avahi:       none runs here ({error}), so the parent is told where the child is")
        speaker = folder / "speaker.wav"
        text = configuration(options.child, speaker)
        began = time.monotonic()
        child = Child(options.child, text, folder, host="[::]", patience=10)
        status = child.ask("status")
        say(f"Child:       \"{status['name']}\" ready after {(time.monotonic() - began) * 1000:.0f} ms")
        parent = Parent(options.parent, folder / "parent")
        is_found = parent.find(status["name"])
        opened, window = child.open_pairing()
        parent.step("pair", "pair", status["name"] if is_found else f"127.0.0.1:{status['port']}", "--code", opened["code"])
        window.wait(10)
        say(f"Watching it for {WATCH_SECONDS} s with cradle-parent ...")
        good = show(parent.watch(picture), picture)
        parent.step("light on", "light", "on", "--for", "10m")
        parent.step("lullaby", "lullaby", "play", "pink-noise", "--volume", "20")
        parent.step("camera switch", "camera", "switch", "door")
        parent.step("screenshot", "screenshot", "-o", str(picture.with_name("demo-still.jpg")))
        parent.step("lullaby stop", "lullaby", "stop")
        before = speaker.stat().st_size
        parent.step("talk for 2 s", "talk", "--microphone", "test", "--duration", "2")
        say(f"  {'':16} {'':6}      the child's speaker played {loudness(speaker, before + 48_000):.0f} dB at the loudest")
        parent.step("unpair", "unpair", status["name"])
        url = f"https://localhost:{status['port']}/"
        token = child.add_token("demo")
        say()
        say("On two machines: `cradle-child run` and `cradle-child pair` on the one; on the other")
        say("`cradle-parent pair --code CODE`, then `cradle-parent watch`, `cradle-parent light on` …")
        say(f"In a browser: {url}   or, from another device,   https://{own_address()}:{status['port']}/")
        say(f"  token {token}")
        say("  (The browser warns of the certificate: the child made it itself. Accept it for this page.)")
        if options.once:
            return 0 if good else 1
        say("The child goes on until Ctrl-C.")
        child.process.wait()
        return 1
    except ChildError as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        say("\nStopped.")
        return 0
    finally:
        if child:
            child.close()
        daemons.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
