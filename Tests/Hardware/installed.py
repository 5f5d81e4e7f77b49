"""The package in the virtual machine, as a family has it: installed, found, paired, watched and commanded from another
machine, and left alone through crashes and a power cut. One test builds on those before it."""

from __future__ import annotations

import json
import math
import re
import shutil
import time
from pathlib import Path
from typing import Any, Callable

from household import Household
from machine import PORT, Machine, has_size, play_tone, stop_tone

NAME = "Hardware test"
LINE = 3
CONFIGURATION = f"""name: {NAME}
listen: '0.0.0.0:{PORT}'
cameras:
  - {{id: cot, device: auto, width: 640, height: 480, framerate: 25}}
microphone: {{device: 'hw:Loopback,0,0'}}
speaker: {{device: 'plughw:Loopback,0,1', maximum-volume: 100}}
lights:
  - {{id: line, device: 'gpio:CHIP/{LINE}'}}
  - {{id: lamp, device: 'led:LAMP'}}
"""
#: Starting a program takes the translated processor some seconds.
SLOW = 60


def expect(condition: bool, text: str) -> None:
    if not condition:
        raise AssertionError(text)


class Installed:
    """The machine with the package on it, and the household that it belongs to."""

    def __init__(self, machine: Machine, home: Household):
        self.machine, self.home = machine, home
        self.id = ""

    def run(self, script: str, timeout: float = SLOW, check: bool = True) -> str:
        # As on a machine of its own: with the libraries that the package depends on, not with those of the share.
        return self.machine.run(f"unset LD_LIBRARY_PATH\n{script}", timeout=timeout, check=check)

    def install(self, isFirst: bool = True) -> str:
        if isFirst:
            self.run("rm -rf /run/cradle /var/lib/cradle")
        return self.run("dpkg -i /mnt/host/cradle-child.deb 2>&1", timeout=120)

    def configure(self) -> None:
        """What a person would write with an editor."""
        self.run("[ -S /run/hil-gpio.sock ] || hil-gpio start gpio led")
        chip, lamp = self.run("hil-gpio chip").strip(), self.run("hil-gpio led").split()[0]
        text = CONFIGURATION.replace("CHIP", chip).replace("LAMP", lamp)
        (self.machine.share / "installed.yaml").write_text(text)
        self.run("cat /mnt/host/installed.yaml >/etc/cradle/child.yaml")

    def pairing_code(self) -> str:
        """Opens the window; what the machine shows to whoever stands before it."""
        self.run("rm -f /run/pair.out; setsid cradle-child pair --json >/run/pair.out 2>&1 </dev/null &")
        self.wait_for("a code", lambda: "code" in self.run("cat /run/pair.out", check=False))
        return str(json.loads(self.run("head -1 /run/pair.out"))["code"])

    def property(self, name: str) -> str:
        return self.run(f"systemctl show -P {name} cradle-child").strip()

    def status(self) -> dict[str, Any]:
        return json.loads(self.run("cradle-child status --json").strip().splitlines()[-1])

    def sound_level(self) -> float:
        """What the microphone hears, in dB; -inf while there is none."""
        microphone = self.status().get("microphone") or {}
        return float(microphone.get("levelDb", -math.inf)) if microphone.get("state") == "running" else -math.inf

    def wait_for(self, what: str, holds: Callable[[], bool], seconds: float = SLOW) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come within {seconds:.0f} s:\n{self.journal()}")
            time.sleep(0.5)

    def wait_until_active(self, since: str = "") -> None:
        """Until it runs, as another process than `since`."""
        self.wait_for(
            "an active service",
            lambda: self.property("ActiveState") == "active" and self.property("MainPID") != since,
        )

    def journal(self) -> str:
        return self.run("journalctl -u cradle-child --no-pager -o cat | tail -30", check=False)

    def watch(self, seconds: int = 6) -> list[dict[str, Any]]:
        """The rows of `cradle-parent watch --stats` while it was connected."""
        text = self.home.parent(
            "watch", NAME, "--mute", "--stats", "--duration", str(seconds), timeout=seconds + SLOW
        )
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        return [row for row in rows if row["framesDecoded"] > 0]

    def expect_commandable(self) -> None:
        """The parent that was paired is still known, and the child is still the one that it knows."""
        expect(self.status()["id"] == self.id, "the child has another identity")
        self.home.json("light", "toggle", "--child", NAME)


# --- The tests, in their order -------------------------------------------------------------------------------------


def package_installs_and_advertises(child: Installed) -> None:
    """Nothing is configured: the child runs, is found by its name and says how to pair."""
    said = child.install()
    expect("cradle-child pair" in said.splitlines()[-1], f"the last line does not say how to pair:\n{said}")
    expect(child.property("ActiveState") == "active", child.journal())
    child.configure()
    child.run("systemctl restart cradle-child")
    child.id = child.status()["id"]
    found: list[dict[str, Any]] = []

    def discovered() -> bool:
        answer = child.home.discover(NAME)
        if answer:
            found.append(answer)
        return answer is not None

    child.wait_for("the child in the list of children", discovered)
    expect(found[-1]["id"] == child.id and found[-1]["port"] == PORT, f"{found[-1]}")


def process_has_no_privileges(child: Installed) -> None:
    process = child.property("MainPID")
    expect(child.run(f"ps -o user= -p {process}").strip() == "cradle", "it runs as another user")
    status = dict(
        line.split(":", 1) for line in child.run(f"cat /proc/{process}/status").splitlines() if ":" in line
    )
    for name, value in {"NoNewPrivs": "1", "Seccomp": "2", "CapEff": "0" * 16, "CapBnd": "0" * 16}.items():
        expect(status[name].strip() == value, f"{name} is {status[name].strip()}")
    expect(re.search(r"core file size +0 +0", child.run(f"cat /proc/{process}/limits")) is not None, "core dumps")
    modes = child.run("stat -c '%U %a' /var/lib/cradle /var/lib/cradle/identity.pem /run/cradle").split("\n")
    expect(modes[:3] == ["cradle 700", "cradle 600", "cradle 750"], f"{modes}")
    rating = child.run("systemd-analyze security cradle-child --no-pager | tail -1")
    print(f"  {rating.strip()}", flush=True)
    entries = [json.loads(line) for line in child.run("journalctl -u cradle-child -o json").splitlines()]
    ready = [entry for entry in entries if str(entry["MESSAGE"]).startswith("ready")]
    expect(bool(ready) and ready[-1]["PRIORITY"] == "6", "the journal does not have the priority")
    refused = [str(entry["MESSAGE"]) for entry in entries if "Failed to" in str(entry["MESSAGE"])]
    expect(not refused, f"something was refused: {refused}")
    expect("viewer" in child.property("StatusText"), child.property("StatusText"))


def pairs_by_the_code_that_the_machine_shows(child: Installed) -> None:
    code = child.pairing_code()
    paired = child.home.json("pair", NAME, "--code", code, "--name", "Sofa")
    expect(paired["paired"]["id"] == child.id, f"{paired}")
    names = [pair["name"] for pair in json.loads(child.run("cradle-child pairs --json"))["pairs"]]
    expect(names == ["Sofa"], f"{names}")


def camera_and_tone_are_watched(child: Installed) -> None:
    child.run("hil-camera move 0")
    # Of 1000 Hz every 20 ms would be the same samples, and a microphone that repeats itself is a dead one.
    play_tone(child.machine, 1010)
    try:
        # The loopback's perfect silence is a missing microphone, which is tried again after a while.
        child.wait_for("the tone in the child", lambda: child.sound_level() > -30)
        rows = child.watch(10)
    finally:
        stop_tone(child.machine)
    last, levels = rows[-1], [row["audioLevelDb"] for row in rows]
    print(f"  {last['width']}x{last['height']}, {last['framesPerSecond']} frames/s, sound {levels} dB", flush=True)
    expect(has_size((last["width"], last["height"])), f"{last['width']}x{last['height']}")
    # The tone has a peak of -20 dB, and so, by AES17, a level of -20. A translated processor that is busy leaves gaps in it.
    expect(any(-24 < level < -19 for level in levels), f"no tone: {levels} dB")


def light_is_switched(child: Installed) -> None:
    """The level of the line and the lamp's brightness, read where the hardware would be."""
    lamp = child.run("hil-gpio led").split()[0]
    for state, level in [("on", "1"), ("off", "0"), ("on", "1")]:
        child.home.json("light", state, "--id", "line", "--child", NAME)
        expect(child.run(f"hil-gpio get {LINE}").strip() == level, f"the line is not {state}")
    child.home.json("light", "on", "--id", "lamp", "--brightness", "40", "--child", NAME)
    expect(child.run(f"cat {lamp}/brightness").strip() == "102", "the lamp does not have 40 %")
    colours = json.loads(child.run("hil-gpio dump"))
    print(f"  {json.dumps(colours)}", flush=True)
    child.home.json("light", "off", "--id", "lamp", "--child", NAME)
    expect(child.run(f"cat {lamp}/brightness").strip() == "0", "the lamp is not off")


def lullaby_is_heard(child: Installed) -> None:
    def level() -> float:
        child.run("arecord -q -D plughw:Loopback,1,1 -f S16_LE -r 48000 -c 1 -d 3 /tmp/heard.wav")
        values = [int(value) for value in child.run("hil-sound level /tmp/heard.wav").split()]
        return sum(values) / len(values)

    silence = level()
    child.home.json("lullaby", "play", "brown-noise", "--volume", "80", "--child", NAME)
    # It begins softly.
    time.sleep(5)
    heard = level()
    child.home.json("lullaby", "stop", "--child", NAME)
    print(f"  level {heard:.0f} of 32767, {silence:.0f} before", flush=True)
    expect(silence < 5 and heard > 100, f"heard {heard}, before {silence}")


def screenshot_is_taken(child: Installed) -> None:
    picture = child.home.folder / "still.jpg"
    child.home.parent("screenshot", "--child", NAME, "-o", str(picture), timeout=SLOW)
    data = picture.read_bytes()
    expect(data.startswith(b"\xff\xd8") and data.endswith(b"\xff\xd9"), "no JPEG")
    frame = re.search(rb"\xff\xc0..\x08(..)(..)", data, re.DOTALL)
    expect(frame is not None, "a JPEG without a frame")
    height, width = (int.from_bytes(frame.group(part), "big") for part in (1, 2))
    expect((width, height) == (640, 480), f"{width}x{height}")


def devices_that_come_later_are_let_in(child: Installed) -> None:
    """Camera and lamp are plugged in while the service runs: its list of devices and udev's rules hold for those too."""
    try:
        child.run("hil-camera unplug; hil-gpio stop; sleep 2")
        child.run("systemctl restart cradle-child")
        child.wait_for("a missing camera", lambda: child.status()["cameras"][0]["state"] == "missing")
    finally:
        child.run("hil-camera plug; hil-gpio start gpio led")
    child.wait_for("the camera", lambda: child.status()["cameras"][0]["state"] == "running")
    # The lamp has another name by now.
    child.configure()
    child.run("systemctl restart cradle-child")
    light_is_switched(child)


def start_and_stop_are_quick(child: Installed) -> None:
    """As the translated processor has it; what a machine takes is measured without one."""
    for command in ["stop", "start", "restart"]:
        seconds = child.run(f"begin=$(date +%s%N); systemctl {command} cradle-child; echo $(($(date +%s%N) - begin))")
        print(f"  systemctl {command}: {int(seconds) / 1e9:.2f} s (emulated)", flush=True)
        time.sleep(2)
    began, ready = (int(child.property(f"{name}TimestampMonotonic")) for name in ["ExecMainStart", "ActiveEnter"])
    print(f"  ready {(ready - began) / 1e6:.2f} s after its process was started (emulated)", flush=True)
    memory = child.run(f"grep VmRSS /proc/{child.property('MainPID')}/status").split()[1]
    print(f"  {int(memory) / 1000:.1f} MB resident with nobody watching", flush=True)


def killed_it_comes_back(child: Installed) -> None:
    for signal in ["KILL", "SEGV"]:
        before = child.property("MainPID")
        child.run(f"systemctl kill -s {signal} cradle-child")
        child.wait_until_active(since=before)
        expect(child.property("NRestarts") != "0", "systemd did not count a restart")
        child.expect_commandable()
    dumps = child.run(
        "find / /var/lib/systemd/coredump /var/crash /var/lib/cradle -maxdepth 1 -type f -name 'core*'", check=False
    )
    expect("core" not in re.sub(r"^find: .*$", "", dumps, flags=re.MULTILINE), f"a core dump: {dumps}")


def standing_still_it_is_started_anew(child: Installed) -> None:
    """A process that does nothing any more (SIGSTOP) no longer pings; the watchdog ends it."""
    before = child.property("MainPID")
    child.run(f"kill -STOP {before}")
    child.wait_for(
        "another process", lambda: child.property("MainPID") not in (before, "0"), seconds=120
    )
    child.wait_until_active(since=before)
    expect("atchdog" in child.run("journalctl -u cradle-child --no-pager -o cat | tail -40"), child.journal())
    child.expect_commandable()


def parent_listens_as_a_service_of_its_user(child: Installed) -> None:
    """A second parent, on the same machine for want of another: it listens without a display, and comes back."""
    child.run("dpkg -i /mnt/host/cradle-parent.deb && useradd -m -G audio sofa")
    # What logind does for a user that lingers; the machine has none.
    child.run(
        "user=$(id -u sofa); install -d -m 700 -o sofa /run/user/$user\n"
        "systemd-run --quiet --unit=sofa --uid=sofa -p Type=notify -p Delegate=yes -E XDG_RUNTIME_DIR=/run/user/$user"
        " /lib/systemd/systemd --user"
    )
    as_sofa = "runuser -u sofa -- env XDG_RUNTIME_DIR=/run/user/$(id -u sofa)"
    code = child.pairing_code()
    child.run(f"{as_sofa} cradle-parent pair 127.0.0.1:{PORT} --code {code} --name Night")
    unit = child.run(f"systemd-escape --template=cradle-parent@.service '{NAME}'").strip()
    child.run(f"{as_sofa} systemctl --user enable --now '{unit}'")

    def listens() -> bool:
        return any(
            viewer["name"] == "Night" and viewer["state"] == "connected" for viewer in child.status()["viewers"]
        )

    child.wait_for("the parent that listens", listens)
    process = child.run(f"{as_sofa} systemctl --user show -P MainPID '{unit}'").strip()
    child.run(f"kill -KILL {process}")
    child.wait_for(
        "another process of the parent's",
        lambda: child.run(f"{as_sofa} systemctl --user show -P MainPID '{unit}'").strip() not in (process, "0"),
    )
    child.wait_for("the parent that listens again", listens)
    child.run("systemctl restart cradle-child")
    child.wait_for("the parent after the child's restart", listens)
    child.run(f"{as_sofa} systemctl --user disable --now '{unit}'")
    child.run("cradle-child unpair Night")


def ribbon_camera_runs_in_the_sandbox(child: Installed) -> None:
    """A program that behaves like rpicam-vid, started by the service with all that its unit forbids."""
    fake = Path(__file__).resolve().parent.parent / "Fixtures" / "rpicam-vid"
    shutil.copy(fake, child.machine.share / "rpicam-vid")
    child.run("install -m 755 /mnt/host/rpicam-vid /usr/bin/rpicam-vid")
    try:
        child.run("sed -i 's,device: auto,device: \"rpicam:0\",' /etc/cradle/child.yaml; systemctl restart cradle-child")
        child.wait_for("the camera", lambda: child.status()["cameras"][0]["state"] == "running")
        rows = child.watch()
        expect(bool(rows) and has_size((rows[-1]["width"], rows[-1]["height"])), f"no picture: {rows[-1:]}")
        parent, program = (
            child.run(f"pgrep -o {pattern}").strip() for pattern in ["-x cradle-child", "-f /usr/bin/rpicam-vid"]
        )
        expect(child.run(f"ps -o ppid=,user= -p {program}").split() == [parent, "cradle"], "another process's, or user's")
        # Killed, it is started again.
        child.run(f"kill -KILL {program}")
        child.wait_for(
            "another camera program",
            lambda: child.run("pgrep -o -f /usr/bin/rpicam-vid", check=False).strip() not in (program, ""),
        )
        child.wait_for("the camera again", lambda: child.status()["cameras"][0]["state"] == "running")
    finally:
        child.run("rm /usr/bin/rpicam-vid")
        child.configure()
        child.run("systemctl restart cradle-child")
    child.wait_until_active()


def upgrade_keeps_everything(child: Installed) -> None:
    """A package with a higher version: the new one runs at once, and configuration and pairs are as they were."""
    before, configuration = child.property("MainPID"), child.run("cat /etc/cradle/child.yaml")
    child.run(
        "rm -rf /tmp/newer; dpkg-deb -R /mnt/host/cradle-child.deb /tmp/newer\n"
        "sed -i 's/^Version: .*/Version: 99.0/' /tmp/newer/DEBIAN/control\n"
        "dpkg-deb --root-owner-group -Znone -b /tmp/newer /tmp/newer.deb; dpkg -i /tmp/newer.deb",
        timeout=180,
    )
    child.wait_until_active(since=before)
    expect(child.run("dpkg-query -W -f='${Version}' cradle-child").strip() == "99.0", "the old one is installed")
    expect(child.run("cat /etc/cradle/child.yaml") == configuration, "the configuration has changed")
    child.expect_commandable()
    expect(bool(child.watch()), "no picture")


def stopped_it_stays_stopped(child: Installed) -> None:
    child.run("systemctl stop cradle-child")
    time.sleep(10)
    expect(child.property("ActiveState") == "inactive", child.property("ActiveState"))
    expect(child.property("Result") == "success", child.property("Result"))
    expect(child.home.discover(NAME) is None, "it is still advertised")
    # What a boot does: everything that is enabled.
    child.run("systemctl start multi-user.target")
    child.wait_until_active()
    child.expect_commandable()


def power_cut_changes_nothing(child: Installed) -> None:
    """The machine is switched off under it and booted again. Its disk forgets everything, so the package is installed
    once more over the state that the first boot left."""
    child.run("cp -a /var/lib/cradle /mnt/host/kept; sync")
    child.machine.cut_power()
    child.machine.boot()
    child.run("cp -a /mnt/host/kept /var/lib/cradle")
    child.install(isFirst=False)
    child.configure()
    child.run("systemctl restart cradle-child")
    child.wait_for("the child in the list of children", lambda: child.home.discover(NAME) is not None)
    child.expect_commandable()
    rows = child.watch()
    expect(bool(rows), "no picture")


#: What all others need.
FIRST = [package_installs_and_advertises, pairs_by_the_code_that_the_machine_shows]

TESTS: list[Callable[[Installed], None]] = [
    package_installs_and_advertises,
    process_has_no_privileges,
    pairs_by_the_code_that_the_machine_shows,
    camera_and_tone_are_watched,
    light_is_switched,
    lullaby_is_heard,
    screenshot_is_taken,
    devices_that_come_later_are_let_in,
    start_and_stop_are_quick,
    killed_it_comes_back,
    standing_still_it_is_started_anew,
    parent_listens_as_a_service_of_its_user,
    ribbon_camera_runs_in_the_sandbox,
    upgrade_keeps_everything,
    stopped_it_stays_stopped,
    power_cut_changes_nothing,
]
