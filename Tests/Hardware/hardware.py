"""The tests on virtual hardware: one machine, one test after the other. `run` beside this starts it."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, Callable

import installed
from household import Household
from installed import Installed
from machine import ADDRESS, PORT, MachineChild, Machine, MachineError, has_size, play_tone, stop_tone

PEERS = Path(__file__).resolve().parent.parent / "Interop" / "peers"
#: Without hardware virtualization the machine is slow, and slower still on a busy host. How fast the child is, the
#: benchmarks say; here a picture that goes on is proof enough.
LEAST_FRAMES_PER_SECOND = 1


def expect(condition: bool, text: str) -> None:
    if not condition:
        raise AssertionError(text)


class Watched:
    """What the viewer saw and heard, and the mean brightness of its last picture (0 to 255)."""

    def __init__(self, result: dict[str, Any], brightness: float | None):
        self.result = result
        self.brightness = brightness

    def __getattr__(self, name: str) -> Any:
        return self.result[name]

    def expect_picture(self) -> None:
        expect(self.connected and not self.error, f"no connection: {self.error}")
        expect(self.framesPerSecond >= LEAST_FRAMES_PER_SECOND, f"only {self.framesPerSecond} frames/s")

    def expect_tone(self, hertz: float) -> None:
        heard = self.audio["toneHz"]
        expect(heard is not None and abs(heard - hertz) < 5, f"expected {hertz} Hz, heard {heard}")

    def expect_silence(self) -> None:
        expect(self.audio["packets"] > 0, "no sound packets at all")
        expect(self.audio["toneHz"] is None, f"heard {self.audio['toneHz']} Hz")


class Viewer:
    """The aiortc viewer on the machine's network."""

    def __init__(self, machine: Machine, child: MachineChild):
        self.machine, self.child = machine, child

    def command(self, seconds: float, screenshot: str) -> list[str]:
        return [
            *("ip", "netns", "exec", self.machine.namespace, sys.executable, str(PEERS / "viewer_aiortc.py")),
            *("--url", f"https://{ADDRESS}:{PORT}/whep", "--token", self.child.token),
            *("--duration", str(seconds), "--screenshot", screenshot),
        ]

    def watch(self, seconds: float = 5, meanwhile: Callable[[], Any] | None = None) -> Watched:
        with tempfile.NamedTemporaryFile(suffix=".png") as picture:
            process = subprocess.Popen(
                self.command(seconds, picture.name), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            try:
                if meanwhile:
                    time.sleep(min(3, seconds / 2))
                    meanwhile()
                output, errors = process.communicate(timeout=seconds + 60)
            except BaseException:
                process.kill()
                raise
            lines = output.strip().splitlines()
            if not lines:
                raise MachineError(f"the viewer printed nothing:\n{errors[-2000:]}")
            seen = Watched(json.loads(lines[-1]), mean_brightness(picture.name))
            sound = seen.audio["toneHz"]
            print(
                f"  {seen.width}x{seen.height}, {seen.framesPerSecond} frames/s, brightness {seen.brightness or 0:.0f},"
                f" frozen {seen.freezeMs} ms, tone {sound if sound is None else round(sound)} Hz",
                flush=True,
            )
            return seen


def mean_brightness(path: str) -> float | None:
    import av

    if Path(path).stat().st_size == 0:
        return None
    with av.open(path) as container:
        for frame in container.decode(video=0):
            return float(frame.to_ndarray(format="gray").mean())
    return None


# --- The tests -----------------------------------------------------------------------------------------------------


def camera_and_tone_arrive(machine: Machine) -> None:
    """640x480 from the camera, moving, and 1 kHz from the sound card."""
    with MachineChild(machine) as child:
        machine.run("hil-camera move 0")
        play_tone(machine, 1000)
        seen = Viewer(machine, child).watch(8)
        seen.expect_picture()
        expect('mode="640x480 ' in child.log(), "the camera has another mode")
        expect(has_size((seen.width, seen.height)), f"{seen.width}x{seen.height}")
        expect(seen.distinctPictures > 5, f"{seen.distinctPictures} different pictures")
        seen.expect_tone(1000)
        level = seen.audio["toneDbfs"]
        expect(abs(level - -20) < 2, f"the tone has {level} dBFS instead of -20")


def another_size_arrives(machine: Machine) -> None:
    """1280x720, of which the camera of some kernels makes 12.5 frames/s only."""
    told = machine.run("v4l2-ctl -d /dev/video0 --list-frameintervals=width=1280,height=720,pixelformat=YUYV")
    fastest = max(float(rate) for rate in re.findall(r"([\d.]+) fps", told))
    with MachineChild(machine, width=1280, height=720, framerate=30) as child:
        seen = Viewer(machine, child).watch(6)
        seen.expect_picture()
        expect(has_size((seen.width, seen.height), (1280, 720)), f"{seen.width}x{seen.height}")
        rates = [float(rate) for rate in re.findall(r"at ([\d.]+) frames/s", child.log())]
        expect(min(30, fastest) in rates, f"the log says {rates}, the camera makes {fastest:g}")


def unplugged_camera_shows_a_card_and_comes_back(machine: Machine) -> None:
    """The picture goes on with a card that says what is missing; plugged in again the camera is back."""
    with MachineChild(machine) as child:
        viewer = Viewer(machine, child)
        before = viewer.watch(4)
        before.expect_picture()
        try:
            during = viewer.watch(10, meanwhile=lambda: machine.run("hil-camera unplug"))
            during.expect_picture()
            expect(during.brightness < before.brightness - 10, f"no card: {during.brightness} of {before.brightness}")
        finally:
            machine.run("hil-camera plug")
        time.sleep(4)
        after = viewer.watch(4)
        after.expect_picture()
        expect(abs(after.brightness - before.brightness) < 10, f"not back: {after.brightness} of {before.brightness}")


def camera_comes_back_under_another_number(machine: Machine) -> None:
    """A program that still holds the old node keeps its number taken; the camera is known by its name and place."""
    with MachineChild(machine, device="/dev/video0") as child:
        viewer = Viewer(machine, child)
        before = viewer.watch(4)
        before.expect_picture()
        machine.run("sleep 60 </dev/video0 >/dev/null 2>&1 & echo $! >/tmp/holder; sleep 0.5; hil-camera unplug; sleep 3")
        try:
            running = child.log().count("camera is running")
            machine.run("hil-camera plug")
            plugged = time.monotonic()
            while child.log().count("camera is running") == running and time.monotonic() - plugged < 15:
                time.sleep(0.05)
            late = time.monotonic() - plugged
            nodes = machine.run("hil-camera list")
            expect("/dev/video0 " not in nodes, f"the number is the same: {nodes}")
            expect(late < 15, f"not back; there are {nodes}")
            print(f"  back under another number, {late:.1f} s after it was there ({nodes.split()[0]})", flush=True)
            after = viewer.watch(4)
            after.expect_picture()
            expect(abs(after.brightness - before.brightness) < 10, f"not back: {after.brightness} of {before.brightness}")
        finally:
            # The first number again, for the other tests.
            machine.run("kill $(cat /tmp/holder); hil-camera unplug; sleep 1; hil-camera plug")


def child_without_camera_streams_sound(machine: Machine) -> None:
    """A child that starts without any camera sends a card and sound, and takes the camera that comes later."""
    machine.run("hil-camera unplug")
    try:
        with MachineChild(machine) as child:
            play_tone(machine, 1000)
            viewer = Viewer(machine, child)
            seen = viewer.watch(6)
            expect(seen.connected and seen.framesDecoded > 0, f"no picture: {seen.error}")
            seen.expect_tone(1000)
            machine.run("hil-camera plug")
            time.sleep(4)
            later = viewer.watch(4)
            later.expect_picture()
            expect(later.brightness > seen.brightness + 10, "the camera was not taken")
    finally:
        machine.run("[ -e /dev/video0 ] || hil-camera plug")


def unplugged_microphone_comes_back(machine: Machine) -> None:
    with MachineChild(machine) as child:
        play_tone(machine, 1000)
        viewer = Viewer(machine, child)
        viewer.watch(4).expect_tone(1000)
        stop_tone(machine)
        machine.run("hil-sound unplug")
        try:
            without = viewer.watch(5)
            without.expect_picture()
        finally:
            machine.run("hil-sound plug")
        time.sleep(6)
        play_tone(machine, 700)
        viewer.watch(6).expect_tone(700)


def broken_frames_and_faults_are_survived(machine: Machine) -> None:
    """A damaged picture, a stream that ends with EIO and a camera that answers ENODEV: each time the picture goes on."""
    with MachineChild(machine) as child:
        viewer = Viewer(machine, child)
        for fault in ["bad-frame 0", "fatal 0", "disconnect 0"]:
            machine.run(f"hil-camera {fault}")
            time.sleep(4)
            seen = viewer.watch(4)
            seen.expect_picture()
            expect(seen.brightness > 60, f"after {fault} there is no camera picture (brightness {seen.brightness})")


def busy_camera_is_taken_when_it_is_free(machine: Machine) -> None:
    machine.run(
        "v4l2-ctl -d /dev/video0 --set-fmt-video=width=640,height=480,pixelformat=YUYV --stream-mmap"
        " --stream-count=100000 >/dev/null 2>&1 & echo $! >/tmp/holder; sleep 2"
    )
    try:
        with MachineChild(machine) as child:
            child.wait_for_log("in use")
            machine.run("kill $(cat /tmp/holder); true")
            time.sleep(7)
            seen = Viewer(machine, child).watch(4)
            seen.expect_picture()
            expect(seen.brightness > 60, f"no camera picture (brightness {seen.brightness})")
    finally:
        machine.run("kill $(cat /tmp/holder) 2>/dev/null; true")


def a_second_of_standstill_is_survived(machine: Machine) -> None:
    """The process is stopped for a second: sound overruns, pictures are missed, the session goes on."""
    with MachineChild(machine) as child:
        play_tone(machine, 1000)

        def halt() -> None:
            machine.run("pkill -STOP -x cradle-child; sleep 1; pkill -CONT -x cradle-child")

        seen = Viewer(machine, child).watch(10, meanwhile=halt)
        seen.expect_picture()
        seen.expect_tone(1000)
        expect(seen.freezeMs < 6000, f"the picture stood still for {seen.freezeMs} ms")


def devices_are_listed(machine: Machine) -> None:
    listing = json.loads(machine.run("./cradle-child devices --json"))
    text = json.dumps(listing)
    for name in ["/dev/video0", "YUYV", "Loopback"]:
        expect(name in text, f"{name} is not in the list: {text[:500]}")


def controls_of_the_camera_are_listed_and_set(machine: Machine) -> None:
    """vivid's controls are in the list; those of the configuration are in the driver; a name that it lacks is an error
    that costs no picture."""
    (camera,) = json.loads(machine.run("./cradle-child devices --json"))["cameras"]
    known = {control["name"]: control for control in camera["controls"]}
    expect(known["brightness"]["maximum"] == 255, f"brightness is {known['brightness']}")
    expect(known["hue"]["minimum"] == -128, f"hue is {known['hue']}")
    # The tool of the V4L2 project names the same ones.
    theirs = {
        line.split()[0]
        for line in machine.run("v4l2-ctl -d /dev/video0 --list-ctrls").splitlines()
        if any(f"({kind})" in line for kind in ("int", "bool", "menu", "intmenu", "int64", "bitmask", "button"))
        # Arrays have no single value.
        and "dims=" not in line and "has-payload" not in line
    }
    expect(theirs <= set(known), f"not listed: {theirs - set(known)}")
    try:
        with MachineChild(machine, keys=", controls: {brightness: 90, hue: -12, horizontal_flip: true, contrst: 5}") as child:
            seen = Viewer(machine, child).watch(4)
            seen.expect_picture()
            values = machine.run("v4l2-ctl -d /dev/video0 -C brightness,hue,horizontal_flip")
            for line in ["brightness: 90", "hue: -12", "horizontal_flip: 1"]:
                expect(line in values, f"{line!r} is not in the driver: {values}")
            expect("none of that name; the nearest is contrast" in child.log(), "the log does not name the slip")
            status = machine.run("./cradle-child status --runtime-directory /run/cradle")
            expect("control contrst" in status, f"the status does not name the slip:\n{status}")
        checked = machine.run(
            "./cradle-child check --config child.yaml --state-directory /var/lib/cradle; echo status $?")
        expect("control contrst" in checked and "status 1" in checked, f"check does not name the slip:\n{checked}")
    finally:
        machine.run("v4l2-ctl -d /dev/video0 --set-ctrl=brightness=128,hue=0,horizontal_flip=0")


def darkness_switches_the_infrared_lamp(machine: Machine) -> None:
    """With `night: auto` a dark picture switches the line of a GPIO chip on, the light switches it off, and so does the
    end of the program."""
    machine.run("[ -S /run/hil-gpio.sock ] || hil-gpio start gpio led")
    chip = machine.run("hil-gpio chip").strip()
    line = 5

    def becomes(level: str, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while machine.run(f"hil-gpio get {line}").strip() != level:
            if time.monotonic() > deadline:
                status = machine.run("./cradle-child status --runtime-directory /run/cradle", check=False)
                raise AssertionError(f"the line is not {level} after {seconds:.0f} s:\n{status}")
            time.sleep(1)

    try:
        with MachineChild(machine, keys=f", infrared: 'gpio:{chip}/{line}'") as child:
            becomes("0", 20)
            machine.run("hil-camera dark 0")
            # Nobody watches: measured every five seconds, dark for ten.
            becomes("1", 60)
            status = machine.run("./cradle-child status --runtime-directory /run/cradle")
            expect("night, brightness 0 %, infrared lamp on" in status, f"the status says nothing of the night:\n{status}")
            Viewer(machine, child).watch(4).expect_picture()
            # A light that comes on while it is learned what the lamp gives would be taken for the lamp.
            time.sleep(20)
            # The colour bars alone are hardly brighter than day has to be.
            machine.run("hil-camera light 0; v4l2-ctl -d /dev/video0 --set-ctrl brightness=190")
            # A minute after the last change at the soonest.
            becomes("0", 150)
            machine.run("v4l2-ctl -d /dev/video0 --set-ctrl brightness=128; hil-camera dark 0")
            becomes("1", 150)
        becomes("0", 10)
    finally:
        machine.run("v4l2-ctl -d /dev/video0 --set-ctrl brightness=128; hil-camera light 0")


TESTS: list[Callable[[Machine], None]] = [
    devices_are_listed,
    controls_of_the_camera_are_listed_and_set,
    darkness_switches_the_infrared_lamp,
    camera_and_tone_arrive,
    another_size_arrives,
    unplugged_camera_shows_a_card_and_comes_back,
    camera_comes_back_under_another_number,
    child_without_camera_streams_sound,
    unplugged_microphone_comes_back,
    broken_frames_and_faults_are_survived,
    busy_camera_is_taken_when_it_is_free,
    a_second_of_standstill_is_survived,
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", type=Path, required=True)
    parser.add_argument("--parent", type=Path, required=True)
    parser.add_argument("--packages", type=Path, required=True, help="the directory with the Debian packages")
    parser.add_argument("--vm", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--processor", default="", help="QEMU's name of the processor to emulate")
    parser.add_argument("--list", action="store_true", help="name the tests and end")
    parser.add_argument("tests", nargs="*", help="only these, and what they need")
    options = parser.parse_args()
    known = {test.__name__: test for test in [*TESTS, *installed.TESTS]}
    if options.list:
        print("\n".join(known))
        return 0
    unknown = [name for name in options.tests if name not in known]
    if unknown:
        parser.error(f"no such test: {', '.join(unknown)}; --list names them")
    chosen = {known[name] for name in options.tests} or set(known.values())
    outcomes: list[bool] = []
    with Machine(options.vm, options.cache, options.child.resolve(), options.packages, options.processor) as machine:
        for test in TESTS:
            if test in chosen:
                outcomes.append(passes(test.__name__, lambda: test(machine), lambda: program_log(machine)))
                stop_tone(machine)
        if not chosen.isdisjoint(installed.TESTS):
            chosen.update(installed.FIRST)
            with Household(machine, options.parent.resolve()) as home:
                child = Installed(machine, home)
                for test in installed.TESTS:
                    if test in chosen:
                        outcomes.append(passes(test.__name__, lambda: test(child), child.journal))
    print(f"{sum(outcomes)} of {len(outcomes)} passed")
    return 0 if all(outcomes) else 1


def program_log(machine: Machine) -> str:
    log = machine.share / "child.log"
    return log.read_text(errors="replace") if log.exists() else ""


def passes(name: str, test: Callable[[], None], log: Callable[[], str]) -> bool:
    started = time.monotonic()
    error: Exception | None = None
    try:
        test()
    except (AssertionError, MachineError, OSError, LookupError, ValueError, subprocess.SubprocessError) as caught:
        error = caught
        if not isinstance(error, (AssertionError, MachineError)):
            traceback.print_exc()
    outcome = "passed" if error is None else f"FAILED: {error}"
    print(f"{name}: {outcome} ({time.monotonic() - started:.0f} s)", flush=True)
    if error is not None:
        try:
            words = log().splitlines()[-15:]
        except MachineError as silent:
            words = [str(silent)]
        print("  the child's last words:\n    " + "\n    ".join(words), flush=True)
    return error is None


if __name__ == "__main__":
    sys.exit(main())
