"""Camera, microphone and speakers."""

from __future__ import annotations

import time

import things
from measure import Bounds, Trial
from row import row

#: The sound goes on while something else is broken; two windows, for what the measuring itself gets wrong.
UNHURT = 0.1


def camera_does(trial: Trial, order: str, seconds: float, says: str | None = None) -> None:
    camera = trial.house.things["camera"]
    trial.broken(says)
    camera.order(order)
    time.sleep(seconds)
    camera.order("run")
    trial.mended()
    trial.finish()


@row("camera-gone", "the camera is unplugged for 8 s", Bounds(rings="camera", lost=UNHURT), quick=True,
     prepare=things.camera_program)  # fmt: skip
def camera_gone(trial: Trial) -> None:
    camera_does(trial, "exit", 8, says="camera is missing")


@row("camera-hangs", "the camera delivers nothing for 8 s", Bounds(rings="camera", lost=UNHURT), quick=True,
     prepare=things.camera_program)  # fmt: skip
def camera_hangs(trial: Trial) -> None:
    camera_does(trial, "hang", 8, says="camera is missing")


@row("camera-frozen", "the camera repeats one frame for 8 s", Bounds(rings="frozen-picture", lost=UNHURT), quick=True,
     prepare=things.camera_sensor)  # fmt: skip
def camera_frozen(trial: Trial) -> None:
    camera_does(trial, "freeze", 8, says="camera is missing")


@row("camera-black", "the camera sees nothing but the dark (and its own noise) for 15 s", Bounds(lost=UNHURT), quick=True,
     prepare=things.camera_sensor)  # fmt: skip
def camera_black(trial: Trial) -> None:
    begin = time.time()
    camera_does(trial, "black", 15)
    kinds = [event["kind"] for event in trial.house.events() if event["time"] > begin]
    trial.note("It counts as night." if "night" in kinds else "It is reported nowhere.")


@row("program-repeats", "a camera program (`exec:`), which may show what it likes, repeats one frame for 15 s",
     Bounds(lost=UNHURT), quick=True, prepare=things.camera_program)  # fmt: skip
def program_repeats(trial: Trial) -> None:
    camera_does(trial, "freeze", 15)


@row("microphone-zero", "the microphone delivers nothing but zeros for 8 s", Bounds(rings="digital-silence"), quick=True,
     prepare=things.microphone)  # fmt: skip
def microphone_zero(trial: Trial) -> None:
    microphone_does(trial, "zeros")


@row("microphone-hangs", "the microphone delivers nothing for 8 s", Bounds(rings="microphone"), quick=True,
     prepare=things.microphone)  # fmt: skip
def microphone_hangs(trial: Trial) -> None:
    microphone_does(trial, "nothing")


def microphone_does(trial: Trial, what: str) -> None:
    microphone = trial.house.things["microphone"]
    trial.broken("microphone is missing")
    microphone.delivers = what
    time.sleep(8)
    microphone.delivers = "tone"
    trial.mended()
    trial.finish()


@row("child-speaker-gone", "the baby unit's speaker is unplugged for 8 s", Bounds(lost=UNHURT, found=5), quick=True,
     prepare=things.child_speaker_on_disk)  # fmt: skip
def child_speaker_gone(trial: Trial) -> None:
    disk = trial.house.things["disk"]
    begin = time.time()
    trial.broken("speaker is missing")
    disk.vanish("card")
    time.sleep(8)
    disk.come_back("card")
    trial.mended()
    trial.finish()
    kinds = [event["kind"] for event in trial.house.events() if event["time"] > begin]
    trial.expect("speaker-lost" in kinds, "there is no event speaker-lost")
    trial.expect("speaker-back" in kinds, "there is no event speaker-back")
    trial.note("Events `speaker-lost`, `speaker-back`.")


@row("parent-speaker-gone", "the viewer's own speaker is unplugged for 10 s", Bounds(rings="own-sound", is_heard=False),
     quick=True, prepare=things.parent_speaker_on_disk)  # fmt: skip
def parent_speaker_gone(trial: Trial) -> None:
    disk = trial.house.things["disk"]
    trial.broken()
    disk.vanish("card")
    time.sleep(10)
    disk.come_back("card")
    trial.mended()
    trial.finish()
    trial.note("Shown on the terminal.")
