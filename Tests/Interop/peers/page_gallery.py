"""A contact sheet of the phone page: every screen and state, for people who look at it.

    make screens          or: page_gallery.py --program PROGRAM --output FOLDER [--language de] [--only alarm,settings]

A phone goes through the page with a real child, once for each language. Writes FOLDER/index.html and its pictures: 360x740
in four languages and both themes; English also small, large, on a tablet and on a desk. Needs chromium and websockets (PyPI).
"""

from __future__ import annotations

import argparse
import contextlib
import html
import os
import pathlib
import signal
import time
from collections.abc import Iterator

from cradle import processes
from cradle.browsers import BrowserError
from cradle.child import Child
from cradle.phone import Phone, open_window
from page_evening import ROOM, write_room
from page_night import NO_CAMERA, SOUNDS, Untouched
from page_rooms import ATTIC
from page_screens import LANGUAGES, screenshot

SIZE = (360, 740)
OTHERS = ((320, 568), (390, 844), (768, 1024), (740, 360), (1280, 800))
#: Words of what is pressed or read first that go over two lines without a hyphen.
BROKEN = r"""[...document.querySelectorAll('button, label, h1, h2, legend, dt')].filter((e) => e.checkVisibility()).flatMap((e) => {
  const [walker, range, found] = [document.createTreeWalker(e, NodeFilter.SHOW_TEXT), new Range(), []];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const word of node.data.matchAll(/[\p{Script=Latin}\p{Script=Cyrillic}\xad]{2,}/gu)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1 && !word[0].includes("\xad")) found.push(word[0]);
    }
  }
  return found;
})"""
NIGHT_MODE = "document.querySelectorAll('.top button')[2].click(), 0"
#: By day, whenever it is made: by night there is one theme.
NOON = "Date.prototype.getHours = () => 12;"
TWO_CAMERAS = (
    "cameras: [{id: cot, device: test, width: 640, height: 360, framerate: 10},"
    " {id: door, device: test, width: 320, height: 240, framerate: 5}]\nrecord: {mode: events, part: 10s}\n")


class Gallery:
    def __init__(self, program: str, folder: pathlib.Path, language: str, only: set[str]):
        self.program, self.folder, self.language, self.only = program, folder, language, only
        sound = pathlib.Path(processes.temporary_directory("room")) / "room.wav"
        write_room(sound)
        one_camera = next(line for line in ROOM.splitlines() if line.startswith("cameras"))
        self.nursery = Child(program, ROOM.replace(one_camera, TWO_CAMERAS) % sound, port=processes.reserved_port())
        self.attic = Child(program, ATTIC, port=processes.reserved_port())

    def phone(self, kind: type[Phone] = Phone, *scripts: str, url: str = "") -> Phone:
        phone = kind(url or self.nursery.origin + "/", *SIZE)
        agent = phone.evaluate("navigator.userAgent")
        phone.remote.command("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=self.language)
        for script in (NOON, *scripts):
            phone.remote.command("Page.addScriptToEvaluateOnNewDocument", source=script)
        return phone

    def take(self, phone: Phone, name: str, scrolls: bool = True) -> None:
        """Whatever is open, as it is now, in every size; what is below the fold as a picture of its own."""
        if self.only and name not in self.only:
            return
        for width, height in (SIZE, *(OTHERS if self.language == "en" else ())):
            phone.resize(width, height)
            for scheme in ("dark", "light") if (width, height) == SIZE else ("dark",):
                phone.prefer(scheme)
                time.sleep(0.25)
                label = f"{self.language}-{width}x{height}-{scheme}"
                screenshot(phone, str(self.folder / f"{name}.{label}.png"))
                broken = phone.evaluate(BROKEN)
                print(name, label, *(f"broken: {word}" for word in broken), flush=True)
        phone.resize(*SIZE)
        phone.prefer("dark")
        box = "(document.querySelector('dialog.sheet[open]') ?? document.scrollingElement)"
        if scrolls and phone.evaluate(f"{box}.scrollHeight - {box}.clientHeight > 40"):
            phone.evaluate(f"{box}.scrollTop = 1e6, 0")
            self.take(phone, f"{name}-below", scrolls=False)
            phone.evaluate(f"{box}.scrollTop = 0, 0")

    def sheet(self, phone: Phone, opener: str, name: str, ready: str = "") -> None:
        phone.tap(opener)
        phone.wait(name, f"!!document.querySelector('[data-sheet={name}] {ready}')")
        time.sleep(1)
        self.take(phone, name)
        phone.tap(f"[data-sheet={name}] header button")
        phone.wait("the sheet closed", "!document.querySelector('dialog.sheet')")

    def live(self, phone: Phone) -> None:
        phone.wait("live", "!!document.querySelector('.status .state.live')")

    def walk(self) -> None:
        phone = self.phone()
        phone.enter(self.nursery.origin + "/")
        self.take(phone, "opening")
        window, secret = open_window(self.nursery.command("pair", "--json"))
        phone.open("about:blank")
        phone.open(self.nursery.origin + "/" + secret)
        phone.wait("the name", "!!document.querySelector('[data-screen=name]')")
        self.take(phone, "name")
        phone.tap("[data-screen=name] button")
        phone.wait("connected", "!!document.querySelector('[data-screen=words]')")
        self.take(phone, "words")
        phone.tap("[data-screen=words] summary")
        self.take(phone, "words-open")
        phone.tap("[data-screen=words] .main")
        processes.end_process(window)
        self.live(phone)
        phone.picture_changes()
        self.take(phone, "watch-first")
        phone.tap("[data-do=tip]")
        phone.wait("the sentence", "document.querySelector('.answer')?.textContent")
        phone.tap("[data-do=light]")
        phone.tap("[data-do=lullaby]")
        phone.wait("both on", "!!document.querySelector('[data-do=light].on') && !!document.querySelector('[data-do=lullaby].on')")
        self.take(phone, "watch")
        self.sheet(phone, "[data-action=light]", "light")
        self.sheet(phone, "[data-action=lullaby]", "lullaby", "[data-track]")
        phone.tap("[data-do=light]")
        phone.tap("[data-do=lullaby]")
        self.sheet(phone, "[data-action=shot]", "shot", "img")
        self.sheet(phone, "[data-do=volume]", "volume")
        self.sheet(phone, ".status", "details")
        self.sheet(phone, "[data-action=night]", "night")
        phone.tap("[data-action=recordings]")
        phone.tap("[data-do=record]")
        phone.wait("recording", "!document.querySelector('dialog.sheet')")
        time.sleep(3)
        self.sheet(phone, "[data-action=recordings]", "recordings", "[data-part]")
        phone.tap("[data-action=proofs]")
        phone.wait("the sound check", "!!document.querySelector('[data-sheet=proofs]')")
        self.take(phone, "proofs")
        phone.tap("[data-do=drill]")
        phone.wait("the question", "!!document.querySelector('[data-sheet=confirm][open]')")
        self.take(phone, "confirm")
        phone.tap("[data-sheet=confirm] header button")
        phone.tap("[data-sheet=proofs] header button")
        phone.tap(".hearing")
        phone.wait("muted", "!!document.querySelector('.hearing.not')")
        self.take(phone, "muted")
        phone.tap(".hearing")
        for mode in ("night-dim", "night-off"):
            phone.evaluate(NIGHT_MODE)
            self.take(phone, mode)
        phone.evaluate(NIGHT_MODE)
        self.settings(phone)
        self.people(phone)
        self.rooms(phone)
        self.trouble(phone)
        phone.close()
        self.missing()
        self.untouched()

    def settings(self, phone: Phone) -> None:
        phone.tap(".top button:last-child")
        for page in ("alarms", "people", "device", "help"):
            phone.tap(f"[data-tab={page}]")
            phone.evaluate("scrollTo(0, 0), 0")
            time.sleep(0.5)
            self.take(phone, f"settings-{page}")
        phone.evaluate("document.querySelectorAll('[data-page=help] details').forEach((one) => { one.open = true; }), 0")
        self.take(phone, "settings-help-open")
        phone.tap("[data-page=help] section:last-child button")
        phone.wait("the keys", "!!document.querySelector('[data-sheet=keys]')")
        self.take(phone, "keys")
        phone.tap("[data-sheet=keys] header button")
        phone.tap("[data-do=alarm]")
        phone.wait("the alarm", "!!document.querySelector('dialog.alarm[open]')")
        self.take(phone, "alarm-test")
        phone.tap("dialog.alarm .acknowledge")

    def people(self, phone: Phone) -> None:
        """An invitation, and the guest that it is for."""
        phone.tap("[data-do=invite]")
        phone.wait("the form", "!!document.querySelector('[data-sheet=invite]')")
        self.take(phone, "invite")
        phone.tap("[data-sheet=invite] .main")
        link = phone.wait("the link", "document.querySelector('[data-sheet=link] input')?.value")
        self.take(phone, "link")
        guest = self.phone()
        guest.enter(self.nursery.origin + "/" + link[link.index("#") :])
        phone.wait("who joined", "!!document.querySelector('[data-joined]')")
        self.take(phone, "joined")
        phone.tap("[data-sheet=link] summary")
        self.take(phone, "joined-open")
        phone.tap("[data-sheet=link] header button")
        guest.tap("[data-screen=words] .main")
        self.live(guest)
        time.sleep(2)
        self.take(guest, "guest")
        phone.evaluate("scrollTo(0, 0), 0")
        self.take(phone, "settings-people-guest")
        guest.enter(self.nursery.origin + "/" + link[link.index("#") :])
        guest.wait("paired already", "!!document.querySelector('[data-screen=again]')")
        self.take(guest, "again")
        guest.tap("[data-do=again]")
        guest.wait("that it is used up", "document.querySelector('[role=alert]')?.textContent")
        self.take(guest, "opening-problem")
        guest.close()

    def rooms(self, phone: Phone) -> None:
        window, secret = open_window(self.attic.command("pair", "--json"))
        phone.tap("[data-do=add]")
        phone.evaluate(
            f"(f => {{ f.value = '{self.attic.origin}/{secret}'; f.closest('form').querySelector('button').click(); }})"
            "(document.querySelector('input[type=url]')), 0")
        phone.tap("[data-screen=words] .main")
        processes.end_process(window)
        self.live(phone)
        phone.wait("the strip", "document.querySelectorAll('.strips [data-room]').length === 2")
        time.sleep(3)
        self.take(phone, "rooms-strip")
        phone.enter(self.nursery.origin + "/")
        phone.wait("both live", "document.querySelectorAll('.rooms .state.live').length === 2")
        time.sleep(2)
        self.take(phone, "rooms")
        self.attic.end(signal.SIGKILL)
        phone.wait("the alarm", "!!document.querySelector('dialog.alarm[open]')")
        self.take(phone, "rooms-alarm")
        phone.tap("dialog.alarm .acknowledge")
        time.sleep(1)
        self.take(phone, "rooms-bad")
        phone.evaluate("document.querySelector('.rooms .bad [data-do=leave]').click(), 0")
        phone.tap("[data-sheet=confirm] .danger")
        time.sleep(1)
        self.take(phone, "rooms-left-out")
        phone.tap(".rooms li:not(.bad) .open")
        self.live(phone)

    def trouble(self, phone: Phone) -> None:
        os.kill(self.nursery.process.pid, signal.SIGSTOP)
        phone.wait("the alarm", "!!document.querySelector('dialog.alarm[open]')")
        self.take(phone, "alarm")
        phone.tap("dialog.alarm .acknowledge")
        phone.wait("the old picture", "document.querySelector('.stage').classList.contains('old')")
        self.take(phone, "acknowledged")
        os.kill(self.nursery.process.pid, signal.SIGCONT)
        self.live(phone)
        self.nursery.output("unpair", "--all")
        phone.wait("the end", "!!document.querySelector('[data-refused]')")
        self.quieten(phone)
        self.take(phone, "refused")

    def quieten(self, phone: Phone) -> None:
        """An alarm that rings by then is acknowledged."""
        with contextlib.suppress(BrowserError):
            phone.wait("the alarm", "!!document.querySelector('dialog.alarm[open]')", 5)
            phone.tap("dialog.alarm .acknowledge")
            time.sleep(1)

    def missing(self) -> None:
        with Child(self.program, NO_CAMERA, port=processes.reserved_port()) as other, self.paired(other, Phone) as phone:
            phone.wait("that it is missing", "document.querySelector('.stage .word span')?.textContent")
            self.quieten(phone)
            self.take(phone, "camera-missing")

    def untouched(self) -> None:
        with self.paired(self.nursery, Untouched, SOUNDS) as phone:
            phone.enter(self.nursery.origin + "/")
            phone.wait("the question", "!!document.querySelector('.listen:not([hidden])')")
            phone.wait("live", "!!document.querySelector('.status .state.live')")
            self.take(phone, "tap")

    @contextlib.contextmanager
    def paired(self, child: Child, kind: type[Phone], *scripts: str) -> Iterator[Phone]:
        opened, window = child.open_pairing()
        phone = self.phone(kind, *scripts, url=child.origin + "/")
        phone.enter(opened["link"])
        phone.tap("[data-screen=words] .main")
        processes.end_process(window)
        yield phone
        phone.close()

    def close(self) -> None:
        self.nursery.close()
        self.attic.close()


def write_index(folder: pathlib.Path) -> None:
    """A row for each state, a column for each size, theme and language."""
    states: dict[str, dict[str, str]] = {}
    for file in sorted(folder.glob("*.png"), key=lambda one: one.stat().st_mtime):
        name, label, _ = file.name.split(".")
        states.setdefault(name, {})[label] = file.name
    labels = sorted({label for pictures in states.values() for label in pictures}, key=lambda one: (one[:2] != "en", f"{SIZE[0]}x" not in one, one))
    rows = "".join(
        f"<tr><th>{html.escape(name)}" + "".join(
            f'<td><a href="{pictures[label]}"><img loading="lazy" height="370" alt="{name}, {label}" src="{pictures[label]}"></a>'
            if label in pictures else "<td>" for label in labels)
        for name, pictures in states.items())
    (folder / "index.html").write_text(
        "<!doctype html><meta charset=utf-8><title>Screens</title><style>body { font: 14px sans-serif; background: #888 } th { position: sticky; left: 0; top: 0; background: #ccc }</style>"
        f"<table><tr><th>{''.join(f'<th>{label}' for label in labels)}{rows}</table>", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="A contact sheet of the phone page.")
    parser.add_argument("--program", required=True, help="cradle-child")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--language", action="append", choices=LANGUAGES, help="only this one")
    parser.add_argument("--only", default="", help="names of states, with commas between them")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for language in options.language or LANGUAGES:
        gallery = Gallery(options.program, options.output, language, set(filter(None, options.only.split(","))))
        try:
            gallery.walk()
        finally:
            gallery.close()
            write_index(options.output)
    print(options.output / "index.html")


if __name__ == "__main__":
    main()
