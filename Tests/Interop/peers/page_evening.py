"""The main screen of the phone page: how it is, what the last hours were like, and what a parent does there.

Scenarios and output as those of page_screens.py.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import pathlib
import signal
import struct
import time
import wave
from collections.abc import Iterator

from cradle import browsers, processes
from cradle.child import Child
import page_screens
from page_edges import WATCH_ERRORS
from page_night import Night
from cradle.phone import Phone

#: A room that is quiet for long, with a second of crying in it.
PERIOD, LOUD_SECONDS = 40, 2
ROOM = """
name: Nursery
cameras: [{id: cot, device: test, width: 640, height: 360, framerate: 10}]
microphone: {device: "file:%s"}
speaker: {device: "null"}
lights: [{id: nightlight, device: simulated}]
"""

#: The sheets that are open, and all that there are.
OPEN = "[...document.querySelectorAll('dialog.sheet[open]')].map((e) => e.dataset.sheet).join()"
SHEETS = "[...document.querySelectorAll('dialog.sheet')].map((e) => e.dataset.sheet).join()"

ANSWER = "(e => e.checkVisibility() ? e.textContent : '')(document.querySelector('.answer'))"

#: Keeps the elements that may play sound.
SOUNDS_MADE = """globalThis.sounds = [];
{
  const make = document.createElement.bind(document);
  document.createElement = (name, ...options) => {
    const element = make(name, ...options);
    if (name === "audio") sounds.push(element);
    return element;
  };
}"""

#: How loud the element plays that plays the camera's sound, whatever its stream is.
LOUDNESS = """{
  const context = new AudioContext();
  globalThis.loudness = async () => {
    const element = sounds.findLast((one) => one.srcObject && !one.muted);
    await context.resume();
    const [source, analyser] = [context.createMediaStreamSource(element.srcObject), context.createAnalyser()];
    analyser.fftSize = 32768;
    source.connect(analyser);
    await new Promise((done) => setTimeout(done, 1500));
    const samples = new Float32Array(32768);
    analyser.getFloatTimeDomainData(samples);
    source.disconnect();
    return Math.hypot(...samples.slice(0, 30000)) / Math.sqrt(30000);
  };
} 0"""


def write_room(path: pathlib.Path) -> None:
    rate = 16_000
    samples = [
        int(9000 * math.sin(i * 0.3)) if i < LOUD_SECONDS * rate else (i * 7919) % 17 - 8 for i in range(PERIOD * rate)
    ]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))


class Evening(Night):
    @contextlib.contextmanager
    def room(self) -> Iterator[tuple[Child, Phone]]:
        """A child in a quiet room, and a phone that watches it."""
        sound = pathlib.Path(processes.temporary_directory("room")) / "room.wav"
        write_room(sound)
        with Child(self.options.program, ROOM % sound, port=processes.reserved_port()) as child:
            opened, window = child.open_pairing()
            phone = Phone(child.origin + "/")
            phone.remote.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH_ERRORS)
            phone.enter(opened["link"])
            phone.tap("[data-screen=words] .main")
            self.wait_live(phone)
            processes.end_process(window)
            yield child, phone
            self.expect_no_errors(phone)
            phone.close()

    def recent(self) -> None:
        """Quiet or loud, since when, and each minute of the last hours."""
        with self.room() as (child, phone):
            phone.wait("loud", f"{ANSWER} === 'Loud now'")
            self.seen("loud")
            phone.wait("quiet since", f"/^Quiet for \\d+ sec · last loud \\d/.test({ANSWER})")
            bars = "(name => document.querySelector(`.strip .${name}`).getAttribute('d'))"
            phone.wait("the loud minute, in which somebody listened", f"{bars}('loud').length > 5 && {bars}('unheard').length < 20")
            self.seen("quiet")
            phone.tap("[data-action=light]")
            phone.tap("[data-sheet=light] .main")
            phone.wait("the light on", "!!document.querySelector('[data-sheet=light] .main.on')")
            phone.tap("dialog header button")
            phone.wait("the sheet closed", "!document.querySelector('dialog.sheet')")
            # Opened again, the page knows it from the child: whom the minutes were heard by, and the light.
            time.sleep(max(0.0, 62 - time.time() % 60))
            phone.enter(child.origin + "/")
            self.wait_live(phone)
            phone.wait("the last hours", f"{bars}('loud').length > 5 && {bars}('light').length > 5")
            self.expect(phone, "that a phone listened", f"{bars}('unheard').length < 40")
            self.seen("known again")
            spot = phone.evaluate("(b => ({ x: b.x + b.width / 2, y: b.y + b.height / 2 }))(document.querySelector('.strip').getBoundingClientRect())")
            phone.touch("touchStart", [spot])
            phone.touch("touchMove", [{**spot, "x": spot["x"] - 2}])
            phone.touch("touchEnd", [])
            phone.wait("the minute", f"/^\\d.*:\\d\\d.* · (loud|quiet|baby unit off)/.test({ANSWER})")
            phone.wait("the answer again", f"/^(Quiet|Loud)/.test({ANSWER})")
            self.seen("the minute")

    def sound(self) -> None:
        """Muted, it comes back by itself; a weak microphone is made louder, through the same mute."""
        phone = self.prepared(SOUNDS_MADE)
        self.join(phone)
        phone.tap(".hearing")
        phone.wait("how long", "/^Muted for (20:00|19:\\d\\d)/.test(document.querySelector('.hearing small').textContent)")
        spot = phone.place(".hearing")
        phone.touch("touchStart", [spot])
        time.sleep(0.8)
        phone.touch("touchEnd", [])
        phone.wait("more, by a long press", "!!document.querySelector('[data-sheet=volume]')")
        phone.tap("[data-mute='60']")
        phone.wait("an hour", "/^Muted for (1:00:00|59:\\d\\d)/.test(document.querySelector('.hearing small').textContent)")
        self.seen("muted for a while")
        # The clock goes on by itself.
        phone.evaluate("{ const { now } = Date; Date.now = () => now() + 3_600_000; } 0")
        phone.wait("hearing again", "!!document.querySelector('.hearing:not(.not)')")
        self.seen("back by itself")
        phone.tap("[data-do=volume]")
        phone.evaluate(LOUDNESS)
        before = phone.evaluate("loudness()")
        phone.tap("[data-sheet=volume] [data-minutes='4']")
        phone.wait("what is louder", "document.querySelector('[data-sheet=volume] [data-minutes=\"4\"]').ariaPressed === 'true'")
        after = phone.wait("louder sound", f"loudness().then((now) => now > {2 * before} && now)", 20)
        if not 0.0005 < before < after < 1:
            raise browsers.BrowserError(f"from {before} to {after}")
        phone.wait("it is heard", "!!document.querySelector('.hearing:not(.not)')")
        phone.tap("[data-sheet=volume] [data-minutes='1']")
        phone.wait("as it came", f"loudness().then((now) => now < {1.5 * before})", 20)
        self.expect_no_errors(phone)
        self.seen("louder")
        phone.close()

    def tiles(self) -> None:
        """One tap does the usual; nothing lies over the picture for long."""
        phone = self.prepared("Date.prototype.getHours = () => 12;")
        self.join(phone)
        phone.tap("[data-do=light]")
        phone.wait("the light, dim", "document.querySelector('[data-do=light] small').textContent === '20%'")
        phone.tap("[data-do=light]")
        phone.wait("the light off", "!document.querySelector('[data-do=light].on')")
        phone.tap("[data-do=lullaby]")
        phone.wait("the sound, and how long", "/(30:00|29:\\d\\d)/.test(document.querySelector('[data-do=lullaby] small').textContent)")
        phone.tap("[data-do=lullaby]")
        phone.wait("silence", "!document.querySelector('[data-do=lullaby].on')")
        self.seen("one tap")
        phone.resize(740, 360)
        over = "[...document.querySelectorAll('.top, .recent, .sound, .status')].filter((e) => getComputedStyle(e).opacity > 0.05).length"
        phone.tap(".stage")
        self.expect(phone, "a touch shows the controls", f"{over} > 0")
        phone.wait("a free picture", f"{over} === 0", 8)
        phone.resize(360, 740)
        self.seen("picture free")
        phone.tap("[aria-label^='Night mode']")
        phone.prefer("light")
        phone.wait("darkness, whatever the theme", "!document.documentElement.hasAttribute('data-light')")
        phone.prefer("dark")
        phone.wait("a darker picture", "getComputedStyle(document.querySelector('video')).filter.includes('brightness')")
        phone.tap("[aria-label^='Night mode']")
        phone.wait("the clock alone", "getComputedStyle(document.querySelector('video')).visibility === 'hidden' && /\\d:\\d\\d/.test((e => e.checkVisibility() ? e.textContent : '')(document.querySelector('.clock')))")
        phone.wait("the meter", "document.querySelector('.meter').checkVisibility()")
        phone.tap("[aria-label^='Night mode']")
        self.seen("night mode")
        phone.evaluate("document.activeElement.blur(), 0")
        phone.press("+")
        phone.wait("how much", "document.querySelector('.top [aria-label=Zoom]').textContent === '1.4 ×'")
        phone.tap(".top [aria-label=Zoom]")
        phone.wait("the whole picture", "document.querySelector('.top [aria-label=Zoom]').hidden")
        self.seen("zoom")
        phone.wait("what to do for the night", "(e => e.checkVisibility() && /locked/.test(e.textContent))(document.querySelector('.tip'))")
        phone.tap("[data-do=tip]")
        phone.wait("read", "document.querySelector('.tip').hidden")
        phone.enter(self.url)
        self.wait_live(phone)
        time.sleep(1)
        self.expect(phone, "it is said once", "document.querySelector('.tip').hidden")
        self.expect_no_errors(phone)
        self.seen("told once")
        phone.close()

    def pages(self) -> None:
        """Settings in four pages; who is owner, and how somebody becomes one."""
        phone = self.prepared()
        self.join(phone)
        phone.tap(".top button:last-child")
        for page in ("people", "device", "help", "alarms"):
            phone.tap(f"[data-tab={page}]")
            phone.wait(page, f"[...document.querySelectorAll('[data-page]')].filter((e) => e.checkVisibility()).map((e) => e.dataset.page).join() === '{page}'")
            if phone.evaluate("document.documentElement.scrollHeight") > 1700:
                raise browsers.BrowserError(f"{page} is long")
        self.seen("four pages")
        phone.tap("[data-tab=people]")
        phone.wait("its own role", "/Owner/.test(document.querySelector('[data-page=people] .list li')?.textContent)")
        opened, window = self.child.open_pairing()
        other = self.prepared()
        other.enter(self.url + opened["link"][opened["link"].index("#") :])
        other.tap("[data-screen=words] .main")
        self.wait_live(other)
        processes.end_process(window)
        phone.enter(self.url)
        self.wait_live(phone)
        phone.tap(".top button:last-child")
        phone.tap("[data-tab=people]")
        phone.wait("the other one, a parent", "[...document.querySelectorAll('[data-page=people] .list li')].filter((e) => /Parent/.test(e.textContent)).length === 1")
        phone.evaluate("[...document.querySelectorAll('[data-page=people] .list details')].forEach((e) => { e.open = true; }), 0")
        phone.evaluate("[...document.querySelectorAll('[data-page=people] button')].find((b) => b.textContent === 'Make owner').click(), 0")
        link = phone.wait("the link", "document.querySelector('[data-sheet=link] input')?.value")
        other.enter(self.url + link[link.index("#") :])
        other.tap("[data-do=again]")
        other.tap("[data-screen=words] .main")
        self.wait_live(other)
        if [pair for pair in self.child.ask("pairs")["pairs"] if "admin" not in pair["permissions"]]:
            raise browsers.BrowserError("somebody is no owner")
        for one in (phone, other):
            self.expect_no_errors(one)
            one.close()
        self.seen("owner")

    def sheets(self) -> None:
        """There is one sheet at most, whatever opens the next; a question gives way to what asked it; an alarm to nothing."""
        phone = self.prepared()
        self.join(phone)
        phone.tap(".top button:last-child")
        phone.tap("[data-do=invite]")
        phone.tap("[data-sheet=invite] .main")
        phone.wait("the link alone", f"!!document.querySelector('[data-sheet=link] input') && {OPEN} === 'link'")
        phone.tap("[data-sheet=link] header button")
        phone.wait("no sheet", f"{SHEETS} === ''")
        self.seen("one at a time")
        phone.evaluate("history.back(), 0")
        phone.tap("[data-action=proofs]")
        phone.tap("[data-do=drill]")
        phone.wait("the question alone", f"{OPEN} === 'confirm'")
        phone.tap("[data-sheet=confirm] header button")
        phone.wait("what asked", f"{OPEN} === 'proofs' && {SHEETS} === 'proofs'")
        phone.tap("[data-do=drill]")
        phone.tap("[data-sheet=confirm] [autofocus]")
        phone.wait("what asked, again", f"{OPEN} === 'proofs' && {SHEETS} === 'proofs'")
        phone.tap("[data-sheet=proofs] header button")
        phone.wait("no sheet", f"{SHEETS} === ''")
        self.seen("back")
        phone.tap("[data-action=proofs]")
        phone.tap("[data-do=drill]")
        phone.wait("the question", f"{OPEN} === 'confirm'")
        os.kill(self.options.pid, signal.SIGSTOP)
        try:
            phone.wait("the alarm alone", f"{SHEETS} === '' && document.querySelectorAll('dialog[open]').length === 1 && !!document.querySelector('dialog.alarm[open]')")
            # What comes late does not lie over it either.
            phone.evaluate("document.querySelector('[data-do=volume]').click(), 0")
            time.sleep(0.3)
            self.expect(phone, "nothing lies over the alarm", f"{SHEETS} === ''")
            phone.tap("dialog.alarm .acknowledge")
            phone.wait("the picture alone", "!document.querySelector('dialog[open]')")
        finally:
            os.kill(self.options.pid, signal.SIGCONT)
        self.wait_live(phone)
        self.seen("an alarm alone")
        phone.tap(".top button:last-child")
        phone.tap("[data-do=forget]")
        phone.wait("the question", f"{OPEN} === 'confirm'")
        phone.evaluate("history.back(), 0")
        phone.wait("no sheet", f"{SHEETS} === ''")
        self.expect_no_errors(phone)
        self.seen("gone with its screen")
        phone.close()

    def joined(self) -> None:
        """A phone is asked for its name; whoever has invited it sees it come, and the words that are on its screen."""
        phone, guest = self.prepared(), self.prepared()
        self.join(phone)
        phone.tap(".top button:last-child")
        phone.tap("[data-do=invite]")
        phone.evaluate("document.querySelector('[data-sheet=invite] input').value = 'Grandma', 0")
        phone.tap("[data-sheet=invite] .main")
        link = phone.wait("the link", "document.querySelector('[data-sheet=link] input')?.value")
        guest.open(self.url + link[link.index("#") :])
        guest.wait("what it proposes", "document.querySelector('[data-screen=name] input')?.value === 'Computer'")
        guest.evaluate("document.querySelector('[data-screen=name] input').value = 'Tablet', 0")
        guest.tap("[data-screen=name] button")
        guest.wait("the name that it was given", "document.querySelector('[data-screen=words]')?.textContent.includes('Connected to Nursery') && document.querySelector('[data-screen=words]').textContent.includes('“Grandma”')")
        self.seen("named")
        phone.wait("who joined", "document.querySelector('[data-joined]')?.textContent === '✓ Grandma joined'")
        self.seen("joined")
        words = "[...document.querySelectorAll('.words li')].map((e) => e.textContent).join()"
        phone.tap("[data-sheet=link] summary")
        guest.tap("[data-screen=words] summary")
        if len(set((phone.evaluate(words), guest.evaluate(words)))) != 1 or phone.evaluate(words).count(",") != 3:
            raise browsers.BrowserError(f"{phone.evaluate(words)} and {guest.evaluate(words)}")
        self.seen("the same words")
        phone.tap("[data-sheet=link] .danger")
        phone.wait("removed", "![...document.querySelectorAll('[data-page=people] .list li')].some((e) => e.textContent.includes('Grandma')) && !document.querySelector('dialog[open]')")
        # A link that is used up keeps the name, and does not ask again.
        guest.enter(self.url + link[link.index("#") :])
        guest.tap("[data-do=again]")
        guest.wait("refused", "!!document.querySelector('[role=alert]')?.textContent")
        self.expect(guest, "the name is kept", "!document.querySelector('[data-screen=name]') && ![...document.querySelectorAll('label')].some((e) => e.textContent.startsWith('What is this phone'))")
        self.expect_no_errors(phone)
        self.seen("name kept")
        for one in (phone, guest):
            one.close()


if __name__ == "__main__":
    raise SystemExit(page_screens.main(Evening, ("recent", "sound", "tiles", "pages", "sheets", "joined")))
