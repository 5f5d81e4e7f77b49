"""The phone page with several rooms: all are listened to at once, each with an alarm of its own.

Scenarios and output as those of page_screens.py.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import Any

from cradle import browsers, processes
from cradle.child import Child, RunningChild
import page_screens
from page_edges import WATCH_ERRORS, Edges
from cradle.phone import Phone, open_window

ATTIC = """
name: Attic
cameras: [{id: bed, device: test, width: 640, height: 360, framerate: 30}]
microphone: {device: test}
"""

#: Counts where a picture changes: of a room's tile or strip.
MOVES = """globalThis.moves = async (room) => {
  const video = document.querySelector(`[data-room="${room}"] video`);
  if (!video || video.hidden || !video.videoWidth) return 0;
  const before = video.getVideoPlaybackQuality().totalVideoFrames;
  await new Promise((done) => setTimeout(done, 1000));
  return video.getVideoPlaybackQuality().totalVideoFrames - before;
}; 0"""

#: What is shown of each room, by its name.
SHOWN = """Object.fromEntries([...document.querySelectorAll('[data-room]')].map((e) => [e.querySelector('b').textContent,
  { state: e.querySelector('.state').textContent, small: e.querySelector('small').textContent, bad: e.classList.contains('bad'), live: !!e.querySelector('.state.live') }]))"""

#: Loudness that the page rings with; 0: it does not.
RINGING = "(dialog => dialog ? [...dialog.querySelectorAll('li')].map((e) => [e.dataset.kind, e.querySelector('.names').textContent]) : [])(document.querySelector('dialog.alarm[open]'))"


def tile(child: str, inside: str = "") -> str:
    return f'[data-room="{child}"] {inside}'.strip()


class Rooms(Edges):
    def __init__(self, options: Any, steps: list[str]):
        super().__init__(options, steps)
        self.attic = Child(options.program, ATTIC)

    def pair_both(self, phone: Phone) -> tuple[str, str]:
        """In the page of the nursery's camera. The identities of nursery and attic."""
        self.join(phone)
        window, secret = open_window(self.attic.command("pair", "--json"))
        phone.evaluate("document.querySelector('.top button:last-child').click(), 0")
        phone.tap("[data-do=add]")
        assert secret.startswith("#")
        phone.evaluate(f"(f => {{ f.value = {json.dumps(self.attic.origin + '/' + secret)}; f.closest('form').querySelector('button').click(); }})(document.querySelectorAll('[data-screen=opening] input')[1]), 0")
        phone.tap("[data-screen=words] .main")
        phone.wait("the second live", "document.querySelector('.top .name').textContent.startsWith('Attic') && !!document.querySelector('.status .state.live')")
        processes.end_process(window)
        ids = phone.wait("both rooms", "(e => e.length === 2 && e.map((one) => one.dataset.room))([...document.querySelectorAll('[data-room]')])")
        return ids[0], ids[1]

    def wait_shown(self, phone: Phone, what: str, condition: str, seconds: float = 60) -> dict[str, Any]:
        phone.wait(what, f"(rooms => {condition})({SHOWN})", seconds)
        return dict(phone.evaluate(SHOWN))

    def wait_moving(self, phone: Phone, room: str) -> None:
        phone.evaluate(MOVES)
        phone.wait("a picture that moves", f"moves({json.dumps(room)}).then((frames) => frames > 2)")

    def several(self) -> None:
        """Both live; one dies and rings by its name while the other goes on; one is left out and says so."""
        phone = self.prepared()
        nursery, attic = self.pair_both(phone)
        self.wait_shown(phone, "the first as a strip beside the second", "rooms.Nursery.live && document.querySelector('.rooms').classList.contains('strips')")
        self.wait_moving(phone, nursery)
        self.seen("strip")

        # From the moment that the page opens.
        phone.enter(self.url)
        self.wait_shown(phone, "both live", "rooms.Nursery.live && rooms.Attic.live && Object.values(rooms).every(({ small }) => small === 'Hearing')")
        for room in (nursery, attic):
            self.wait_moving(phone, room)
        if not phone.evaluate("[...document.querySelectorAll('.rooms .words')].every((e) => e.querySelector('b').getBoundingClientRect().bottom <= e.querySelector('.state').getBoundingClientRect().top + 1)"):
            raise browsers.BrowserError("what a room does stands beside its name, not below it")
        self.wait_small(phone)
        self.seen("tiles")

        phone.tap(tile(attic, ".open"))
        phone.wait("the attic large", "document.querySelector('.top .name').textContent.startsWith('Attic') && !!document.querySelector('.stage video')")
        self.wait_live(phone)
        self.wait_picture(self.attic, "high")
        self.wait_moving(phone, nursery)
        phone.evaluate("history.back()")
        phone.wait("the tiles", "!!document.querySelector('[data-screen=children]') && !document.querySelector('.watch')")
        self.wait_moving(phone, attic)
        self.wait_small(phone)
        self.seen("large and back")

        self.attic.end(signal.SIGKILL)
        rings = phone.wait("the alarm", f"(rings => rings.length && rings)({RINGING})", 15)
        if rings != [["link", "Attic"]]:
            raise browsers.BrowserError(f"it rings {rings}")
        shown = phone.evaluate(SHOWN)
        if not shown["Attic"]["bad"] or shown["Nursery"]["bad"] or not shown["Nursery"]["live"] or shown["Nursery"]["small"] != "Hearing":
            raise browsers.BrowserError(f"shown: {shown}")
        self.wait_moving(phone, nursery)
        phone.tap("dialog.alarm .acknowledge")
        phone.wait("quiet", "!document.querySelector('dialog.alarm[open]')")
        if not phone.evaluate(SHOWN)["Attic"]["bad"]:
            raise browsers.BrowserError("what was acknowledged is not shown any more")
        self.attic.start()
        self.wait_shown(phone, "the attic back", "rooms.Attic.live && !rooms.Attic.bad")
        self.seen("one dies")

        phone.tap(tile(attic, "[data-do=leave]"))
        phone.tap("dialog.sheet[open] .danger, dialog.sheet[open] .main")
        shown = self.wait_shown(phone, "left out, in red", "rooms.Attic.bad && rooms.Attic.state.startsWith('Left out: nobody listens')")
        self.expect_red(phone, attic)
        deadline = time.monotonic() + 20
        while self.attic.ask("status")["viewers"]:
            if time.monotonic() > deadline:
                raise browsers.BrowserError("a room that was left out is still watched")
            time.sleep(0.2)
        phone.enter(self.url)
        self.wait_shown(phone, "still left out", "rooms.Nursery.live && rooms.Attic.bad && rooms.Attic.state.startsWith('Left out')")
        phone.tap(tile(nursery, ".open"))
        phone.wait("the nursery large", "!!document.querySelector('.stage video')")
        self.expect_red(phone, attic)
        phone.evaluate("document.querySelector('.top .name').click(), 0")
        phone.tap(tile(attic, "[data-do=listen]"))
        self.wait_shown(phone, "listened to again", "rooms.Attic.live && rooms.Attic.small === 'Hearing'")
        self.seen("left out")

        phone.tap(tile(attic, "[data-do=mute]"))
        self.wait_shown(phone, "muted for a time", "/^NOT hearing. Muted for \\d+:\\d+/.test(rooms.Attic.small)")
        phone.tap(tile(attic, "[data-do=mute]"))
        phone.evaluate("(s => { s.value = 'chosen'; s.dispatchEvent(new Event('change')); })(document.querySelector('[data-setting=roomSound]')), 0")
        phone.tap(tile(attic, "[data-do=mute]"))
        chosen = "rooms.Attic.small === 'NOT hearing. Tap to listen' && rooms.Nursery.small === 'Hearing'"
        self.wait_shown(phone, "muted for good", chosen)
        phone.enter(self.url)
        self.wait_shown(phone, "still muted", chosen)
        # Half an hour later.
        phone.evaluate("(now => { Date.now = () => now() + 1_800_000; })(Date.now), 0")
        time.sleep(2.5)
        self.wait_shown(phone, "muted all the same", "rooms.Attic.small === 'NOT hearing. Tap to listen'")
        self.expect_no_errors(phone)
        self.seen("muted")
        phone.close()
        self.attic.close()

    def wait_small(self, phone: Phone) -> None:
        for child in (self.child, self.attic):
            self.wait_picture(child, "low")

    def wait_picture(self, child: RunningChild, rendition: str) -> None:
        """Which one the camera sends to the page."""
        deadline = time.monotonic() + 30
        while [viewer.get("picture") for viewer in child.ask("status")["viewers"]] != [rendition]:
            if time.monotonic() > deadline:
                raise browsers.BrowserError(f"not {rendition}: {child.ask('status')['viewers']}")
            time.sleep(0.2)

    def expect_red(self, phone: Phone, room: str) -> None:
        color = phone.evaluate(f"getComputedStyle(document.querySelector({json.dumps(tile(room, '.state'))})).color")
        if color != "rgb(232, 150, 124)":
            raise browsers.BrowserError(f"its color is {color}")


if __name__ == "__main__":
    raise SystemExit(page_screens.main(Rooms, ("several",)))
