"""`make demo`: a child with this machine's camera and microphone (else test picture and tone), watched by a parent.
Prints what the parent got, saves what it saw, and leaves the child running until Ctrl-C.

Only the standard library here.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

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


class Child:
    def __init__(self, program: str, folder: Path):
        self.program, self.folder = program, folder
        camera, microphone = choose_devices(program)
        self.directories = ["--state-directory", str(folder / "state"), "--runtime-directory", str(folder / "run")]
        self.log = open(folder / "child.log", "w+b")
        self.process = subprocess.Popen(
            [program, "run", "--name", "Demo", "--camera", camera, "--microphone", microphone, "--listen", "[::]:0"]
            + self.directories,
            stdout=self.log, stderr=self.log,
        )

    def wait_until_ready(self) -> Any:
        for _ in range(200):
            if self.process.poll() is not None:
                self.log.seek(0)
                raise SystemExit("The child did not start:\n" + self.log.read().decode(errors="replace"))
            status = subprocess.run(
                [self.program, "status", "--json"] + self.directories, capture_output=True, text=True)
            if status.returncode == 0:
                return json.loads(status.stdout)
            time.sleep(0.05)
        raise SystemExit("The child did not get ready within 10 s.")

    def token(self, name: str) -> str:
        added = run_json(
            [self.program, "token", "add", "--name", name, "--allow", "view,listen", "--json"] + self.directories)
        return str(added["token"])

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()


def watch(parent: str, url: str, token: str, picture: Path, state: Path) -> dict[str, Any]:
    """The parent's figures over the whole time, which are its last line."""
    done = subprocess.run(
        [parent, "watch", "--whep", url, "--no-window", "--mute", "--stats", "--duration", str(WATCH_SECONDS),
         "--snapshot", str(picture), "--state-directory", str(state)],
        capture_output=True, text=True, env={**os.environ, "CRADLE_TOKEN": token},
    )
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        raise SystemExit("The parent could not watch:\n" + done.stderr[-2000:])
    return dict(json.loads(lines[-1]))


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
    try:
        child = Child(options.child, folder)
        began = time.monotonic()
        status = child.wait_until_ready()
        say(f"Child:       \"{status['name']}\" ready after {(time.monotonic() - began) * 1000:.0f} ms")
        token = child.token("demo")
        url = f"https://localhost:{status['port']}/"
        say(f"Watching it for {WATCH_SECONDS} s with cradle-parent ...")
        whep = f"https://127.0.0.1:{status['port']}/whep"
        good = show(watch(options.parent, whep, token, picture, folder / "parent"), picture)
        say()
        say(f"Open   {url}   or, from another device,   https://{own_address()}:{status['port']}/")
        say(f"Token  {token}")
        say("(The browser warns of the certificate: the child made it itself. Accept it for this page.)")
        if options.once:
            return 0 if good else 1
        say("Or in a terminal:")
        say(f"  CRADLE_TOKEN={token} {options.parent} watch --whep {whep}")
        say("The child goes on until Ctrl-C.")
        child.process.wait()
        return 1
    except KeyboardInterrupt:
        say("\nStopped.")
        return 0
    finally:
        if child:
            child.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
