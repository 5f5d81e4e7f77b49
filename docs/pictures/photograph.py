#!/usr/bin/env python3
"""Makes the pictures of the documents: the real page and the real window, watching a child whose camera is a drawing.

    make pictures          or: photograph.py --child PROGRAM --parent PROGRAM --work FOLDER

cot.svg is drawn by hand; here its baby breathes and its mobile swings, and a little noise is added, as Y4M in FOLDER
(170 MB), which a child shows by `device: file:`. Writes warning.jpg (a browser's first visit), phone.jpg (watching,
lullabies, an alarm), page.jpg (on a desk) and window.jpg beside itself.

Needs chromium, ffmpeg, Xvfb, openbox, xdotool and websockets (PyPI), as the tests do: `make setup-test`.
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from cradle import browsers, processes
from cradle.phone import Phone, open_window

HERE = Path(__file__).resolve().parent

FRAMES, RATE, SIZE = 90, 15, (1280, 720)
DESK = (1280, 800)


class CarefulPhone(Phone):
    """One that shows the browser's warning, as everybody's does at the first visit, at an address such as a house has."""

    insecure = False

    def switches(self) -> list[str]:
        return super().switches() + ["--host-resolver-rules=MAP 192.168.1.23 127.0.0.1, MAP * ~NOTFOUND"]


def run(*command: str | Path, **options: Any) -> None:
    subprocess.run([str(word) for word in command], check=True, **options)


def photograph(phone: Phone, file: Path) -> Path:
    picture = phone.remote.command("Page.captureScreenshot", format="png")
    file.write_bytes(base64.b64decode(picture["data"]))
    return file


def scale(phone: Phone, width: int, height: int, factor: float) -> None:
    phone.remote.command(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=factor, mobile=width < 1000)


def draw(work: Path) -> Path:
    """The clip, whose end fits its beginning: three breaths, and the mobile there and back."""
    clip = work / "cot.y4m"
    if clip.exists() and clip.stat().st_mtime > (HERE / "cot.svg").stat().st_mtime:
        return clip
    frames = work / "frames"
    frames.mkdir(exist_ok=True)
    (work / "cot.html").write_text("<style>body { margin: 0 }</style>" + (HERE / "cot.svg").read_text())
    browser = Phone("http://127.0.0.1/", *SIZE)
    browser.remote.command("Page.navigate", url=(work / "cot.html").as_uri())
    time.sleep(1)
    for number in range(FRAMES):
        angle = 2 * math.pi * number / FRAMES
        browser.evaluate(
            "(s => { s.setProperty('--breath', %f); s.setProperty('--turn', '%fdeg') })(document.documentElement.style)"
            % ((1 - math.cos(3 * angle)) / 2, 3 * math.sin(angle)))
        photograph(browser, frames / f"{number:03}.png")
    browser.close()
    run("ffmpeg", "-v", "error", "-y", "-framerate", str(RATE), "-i", frames / "%03d.png", "-vf",
        "noise=alls=5:allf=t,format=yuv420p", clip)
    return clip


def hum(work: Path) -> Path:
    """What a quiet room sounds like to a microphone."""
    file = work / "room.wav"
    run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "anoisesrc=color=brown:amplitude=0.05:duration=20:r=48000", file)
    return file


def start_child(program: str, work: Path, port: int) -> subprocess.Popen[bytes]:
    (work / "child.yaml").write_text(
        f"name: Nursery\nlisten: '[::]:{port}'\n"
        f"cameras:\n  - {{id: cot, device: 'file:{draw(work)}', framerate: {RATE}, night: 'off'}}\n"
        "  - {id: door, device: test, width: 640, height: 360}\n"
        f"microphone: {{device: 'file:{hum(work)}'}}\nspeaker: {{device: 'null'}}\n"
        "lights:\n  - {id: nightlight, device: simulated}\n")
    process = processes.start_process(
        [program, "run", "--config", str(work / "child.yaml"), *directories(work)],
        stdout=subprocess.DEVNULL, stderr=open(work / "child.log", "wb"))
    for _ in range(200):
        status = [program, "status", "--json", "--runtime-directory", str(work / "run")]
        if subprocess.run(status, capture_output=True).returncode == 0:
            return process
        time.sleep(0.1)
    raise SystemExit("the child did not start: " + (work / "child.log").read_text())


def directories(work: Path) -> list[str]:
    return ["--state-directory", str(work / "state"), "--runtime-directory", str(work / "run")]


class Desk:
    """A screen with the viewer's window on it."""

    def __init__(self, work: Path) -> None:
        server = processes.start_process(
            ["Xvfb", "-displayfd", "1", "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert server.stdout is not None
        self.display = ":" + server.stdout.readline().decode().strip()
        (work / "openbox.xml").write_text(
            '<?xml version="1.0"?><openbox_config xmlns="http://openbox.org/3.4/rc"><applications>'
            '<application class="*"><decor>no</decor><maximized>yes</maximized></application></applications></openbox_config>')
        self.environment = {
            **os.environ, "DISPLAY": self.display, "SDL_VIDEODRIVER": "x11", "SDL_RENDER_DRIVER": "software",
            "DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "/nonexistent"}
        processes.start_process(["openbox", "--config-file", str(work / "openbox.xml")], env=self.environment)

    def photograph(self, file: Path) -> Path:
        # A pointer that moves brings the line at the bottom.
        run("xdotool", "mousemove", "300", "300", "sleep", "0.2", "mousemove", "1270", "10", "sleep", "0.5", env=self.environment)
        run("ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-draw_mouse", "0", "-video_size", f"{SIZE[0]}x{SIZE[1]}",
            "-i", self.display, "-frames:v", "1", file)
        return file


def side_by_side(files: list[Path], name: str, filters: str = "") -> None:
    """With a grey gap between them."""
    inputs = [word for file in files for word in ("-i", str(file))]
    padded = "".join(
        f"[{n}]{filters}pad=iw{'+24' if n + 1 < len(files) else ''}:ih:0:0:0x4a3f38[p{n}];" for n in range(len(files)))
    joined = "".join(f"[p{n}]" for n in range(len(files))) + (f"hstack={len(files)}" if len(files) > 1 else "null")
    run("ffmpeg", "-v", "error", "-y", *inputs, "-filter_complex", padded + joined, "-q:v", "4", HERE / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--child", required=True)
    parser.add_argument("--parent", required=True)
    parser.add_argument("--work", required=True, type=Path)
    options = parser.parse_args()
    work: Path = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    for folder in ("state", "parent"):
        shutil.rmtree(work / folder, ignore_errors=True)
    port = processes.reserved_port()
    child = start_child(options.child, work, port)
    url = f"https://127.0.0.1:{port}/"
    pairing = [options.child, "pair", "--json", "--runtime-directory", str(work / "run")]

    def pair(phone: Phone) -> None:
        window, secret = open_window(pairing)
        phone.enter(url + secret)
        phone.tap("[data-screen=words] .main")
        phone.picture_changes()
        phone.wait("hearing", "!!document.querySelector('.hearing:not(.not)')")
        processes.end_process(window)

    careful = CarefulPhone(url)
    scale(careful, 360, 640, 1.5)
    careful.remote.command("Page.navigate", url=f"https://192.168.1.23:{port}/")
    careful.wait("the warning", "!!document.querySelector('#details-button')")
    warning = photograph(careful, work / "warning.png")
    careful.evaluate("document.querySelector('#details-button').click(), 0")
    time.sleep(1)
    side_by_side([warning, photograph(careful, work / "advanced.png")], "warning.jpg")
    careful.close()

    phone, page = Phone(url), Phone(url, *DESK)
    pair(phone)
    pair(page)
    window, secret = open_window(pairing)
    run(options.parent, "pair", "--link", url + secret, "--state-directory", work / "parent", stdin=subprocess.DEVNULL)
    processes.end_process(window)
    desk = Desk(work)
    watch = processes.start_process(
        [options.parent, "watch", "--speaker", "none", "--microphone", "none", "--state-directory", str(work / "parent")],
        env=desk.environment, stderr=open(work / "watch.log", "wb"))

    parent = [options.parent, "--state-directory", str(work / "parent")]
    run(parent[0], "light", "on", "--brightness", "20", "--for", "15m", *parent[1:])
    run(parent[0], "lullaby", "play", "pink-noise", *parent[1:])
    time.sleep(6)
    scale(phone, 360, 740, 2)
    watching = photograph(phone, work / "watching.png")
    phone.tap("[data-action=lullaby]")
    time.sleep(1.5)
    lullaby = photograph(phone, work / "lullaby.png")
    phone.tap("dialog header button")
    on_desk = photograph(page, work / "page.png")
    window_watching = desk.photograph(work / "window-watching.png")
    os.kill(child.pid, signal.SIGKILL)
    phone.wait("the alarm", "!!document.querySelector('dialog.alarm[open]')")
    time.sleep(4)
    alarm = photograph(phone, work / "alarm.png")
    window_alarm = desk.photograph(work / "window-alarm.png")
    side_by_side([watching, lullaby, alarm], "phone.jpg")
    side_by_side([on_desk], "page.jpg")
    side_by_side([window_watching, window_alarm], "window.jpg", "scale=960:-2,")
    for browser in (phone, page):
        browser.close()
    processes.end_process(watch)
    print(json.dumps({file.name: file.stat().st_size for file in sorted(HERE.glob("*.jpg"))}))


if __name__ == "__main__":
    try:
        main()
    except browsers.BrowserError as error:
        sys.exit(str(error))
