"""Things in a house that can be broken: a camera, a microphone, a small disk, a thread."""

from __future__ import annotations

import math
import os
import random
import struct
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

from cradle.house import CAMERA, House, Problem, run, standard_configuration, wait_for

HERE = Path(__file__).resolve().parent


class Camera:
    """A program in place of a camera; `order` is what it does from the next picture on."""

    def __init__(self, house: House, is_raw: bool) -> None:
        self.orders = house.folder / "camera-orders"
        self.order("run")
        command = f"{sys.executable} {HERE / 'camera.py'} {self.orders}"
        size = "width: 320, height: 240, framerate: 15"
        if is_raw:
            # Where rpicam-vid is looked for.
            programs = house.folder / "programs"
            programs.mkdir()
            (programs / "rpicam-vid").write_text(f'#!/bin/sh\nexec {command} --raw "$@"\n')
            (programs / "rpicam-vid").chmod(0o755)
            house.child_environment["PATH"] = f"{programs}:{os.environ['PATH']}"
            device = '"rpicam:0"'
        else:
            device = f'"exec:{command}"'
        house.configuration = standard_configuration(camera=f"{{id: cot, device: {device}, {size}}}")

    def order(self, word: str) -> None:
        # Never half a word.
        new = self.orders.with_suffix(".new")
        new.write_text(word)
        new.rename(self.orders)


def camera_program(house: House) -> None:
    house.things["camera"] = Camera(house, is_raw=False)


def camera_sensor(house: House) -> None:
    """Of which the child knows that no two pictures of it are the same."""
    house.things["camera"] = Camera(house, is_raw=True)


class Microphone:
    """An ALSA device whose samples come from here, through a pipe."""

    def __init__(self, house: House) -> None:
        pipe, configuration = house.folder / "microphone", house.folder / "asound.conf"
        os.mkfifo(pipe)
        configuration.write_text(
            'pcm.null { type null }\n'
            f'pcm.room {{ type file slave.pcm "null" file "/dev/null" infile "{pipe}" format raw }}\n')  # fmt: skip
        house.child_environment["ALSA_CONFIG_PATH"] = str(configuration)
        house.configuration = standard_configuration(microphone="room")
        # Open for reading too: then it does not break where the child closes it.
        self.pipe = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        self.is_open = True
        #: `tone`, `zeros` or `nothing`.
        self.delivers = "tone"
        self.thread = threading.Thread(target=self._write, daemon=True)
        self.thread.start()
        house.closing.append(self.close)

    def _write(self) -> None:
        # With noise, as every microphone has: what repeats itself counts as dead.
        tones = [
            struct.pack("<960h", *[
                round(3277 * math.sin(2 * math.pi * 1000 * i / 48_000) + random.uniform(-20, 20)) for i in range(960)])
            for _ in range(50)]  # fmt: skip
        number = 0
        due = time.monotonic()
        while self.is_open:
            if self.delivers != "nothing":
                try:
                    os.write(self.pipe, tones[number % 50] if self.delivers == "tone" else bytes(1920))
                except BlockingIOError:
                    pass
            number += 1
            due += 0.02
            time.sleep(max(0, due - time.monotonic()))

    def close(self) -> None:
        self.is_open = False
        self.thread.join()
        os.close(self.pipe)


def microphone(house: House) -> None:
    house.things["microphone"] = Microphone(house)


class Disk:
    """A small file system of its own."""

    def __init__(self, house: House, name: str, megabytes: int) -> None:
        self.path = house.folder / name
        self.path.mkdir(mode=0o700, exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(self.path))
        house.closing.append(lambda: run("umount", "--lazy", str(self.path)))

    def fill(self) -> None:
        with (self.path / "filler").open("wb") as file:
            space = os.statvfs(self.path)
            # The last pages may go to somebody else meanwhile.
            free = space.f_bavail * space.f_bsize
            while free > 0:
                try:
                    os.posix_fallocate(file.fileno(), os.fstat(file.fileno()).st_size, free)
                except OSError:
                    free = free // 2 // space.f_bsize * space.f_bsize

    def empty(self) -> None:
        (self.path / "filler").unlink()

    def vanish(self, name: str) -> None:
        """Nothing can be written to the files of this folder, nor can they be opened."""
        (self.path / name).rename(self.path / f"{name}-gone")
        self.fill()

    def come_back(self, name: str) -> None:
        self.empty()
        (self.path / f"{name}-gone").rename(self.path / name)


def state_on_small_disk(house: House) -> None:
    # More than is "little", so that nothing is said before it is full.
    house.things["disk"] = Disk(house, "state", 300)


def child_speaker_on_disk(house: House) -> None:
    disk = Disk(house, "sound", 64)
    (disk.path / "card").mkdir()
    house.things["disk"] = disk
    house.configuration = standard_configuration().replace('"null"', f'"file:{disk.path}/card/out.wav"')


def parent_speaker_on_disk(house: House) -> None:
    disk = Disk(house, "sound", 64)
    (disk.path / "card").mkdir()
    house.things["disk"] = disk
    house.speaker_folder = disk.path / "card"


class StillThreads:
    """Threads of the child stand still while the others go on: the freezer of cgroup v2, in its threaded mode."""

    def __init__(self, process: int, threads: list[int]) -> None:
        root = hierarchy()
        if root is None:
            raise Problem("no cgroup v2")
        mark = uuid.uuid4().hex[:6]
        self.process = process
        self.home = root / f"cradle-faults-{mark}"
        self.still = self.home / "still"
        self.home.mkdir()
        (self.home / "cgroup.procs").write_text(str(process))
        self.still.mkdir()
        (self.still / "cgroup.type").write_text("threaded")
        for thread in threads:
            (self.still / "cgroup.threads").write_text(str(thread))
        self.threads = threads
        self._freeze(True)

    def _freeze(self, is_frozen: bool) -> None:
        (self.still / "cgroup.freeze").write_text("1" if is_frozen else "0")
        wanted = f"frozen {int(is_frozen)}"
        wait_for("threads that stand still", 5, lambda: wanted in (self.still / "cgroup.events").read_text())

    def catch_at_work(self) -> None:
        """Until they stand still while they compute, and not while they wait: proc_pid_syscall(5)."""
        for _ in range(500):
            calls = [Path(f"/proc/{self.process}/task/{thread}/syscall").read_text() for thread in self.threads]
            if all(call.startswith("-1 ") for call in calls):
                return
            self._freeze(False)
            time.sleep(random.uniform(0.01, 0.1))
            self._freeze(True)
        raise Problem("the threads do nothing but wait")

    def close(self) -> None:
        """Lets them go on. Twice does no harm."""
        for _ in range(200):
            try:
                if self.still.exists():
                    (self.still / "cgroup.freeze").write_text("0")
                    self.still.rmdir()
                if self.home.exists():
                    self.home.rmdir()
                return
            except OSError:
                # Groups can be removed when nobody is in them. Threads go where their process goes.
                time.sleep(0.05)
                self._leave()
        raise Problem(f"{self.home} cannot be removed")

    def _leave(self) -> None:
        try:
            for process in (self.home / "cgroup.procs").read_text().split():
                (self.home.parent / "cgroup.procs").write_text(process)
        except OSError:
            pass


def hierarchy() -> Path | None:
    """Where cgroup v2 is mounted."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2" and os.access(where, os.W_OK):
            return Path(where)
    return None


#: libfaketime, of the package of this name: another wall clock for one program.
FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


def clock_of_its_own(house: House) -> None:
    setting = house.folder / "clock"
    setting.write_text("+0\n")
    house.things["clock"] = setting
    house.child_environment |= {
        "LD_PRELOAD": str(FAKETIME[0]), "FAKETIME_TIMESTAMP_FILE": str(setting), "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # Else waiting with a time limit breaks.
        "FAKETIME_FORCE_MONOTONIC_FIX": "0"}  # fmt: skip
    # The library moves the environment of the first program that it meets; Swift finds its arguments beside it.
    house.child_launcher = ["env"]

    def clean() -> None:
        for path in Path("/dev/shm").glob(f"*faketime_*_{house.child.process.pid}"):
            path.unlink()

    house.closing.append(clean)


def names_from_nowhere(house: House) -> None:
    """A name server that never answers; 192.0.2.0/24 is for documents (RFC 5737)."""
    for host in (house.network.child, house.network.parent):
        folder = Path("/etc/netns") / host
        folder.mkdir(parents=True)
        (folder / "resolv.conf").write_text("nameserver 192.0.2.1\n")
        house.closing.append(lambda folder=folder: subprocess.run(["rm", "-r", str(folder)]))


__all__ = ["CAMERA", "Camera", "Disk", "FAKETIME", "Microphone", "StillThreads"]
