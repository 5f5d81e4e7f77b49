"""The phone page as a tired parent uses it: what must not happen by mistake, and what must not frighten.

Scenarios and output as those of page_screens.py.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import time
from typing import Any

from cradle import browsers, processes
from cradle.child import Child
import page_screens
from page_edges import LATE_HELLO, Edges
from cradle.phone import Phone

#: Keeps the elements that play sound, and lets a test stop them as a browser would.
SOUNDS = """globalThis.sounds = [];
{
  const { play } = HTMLMediaElement.prototype;
  HTMLMediaElement.prototype.play = function () {
    if (this.srcObject && this.tagName === "AUDIO" && !sounds.includes(this)) sounds.push(this);
    return globalThis.isSilenced ? Promise.reject(new DOMException("no", "NotAllowedError")) : play.call(this);
  };
  globalThis.silence = () => { globalThis.isSilenced = true; for (const one of sounds) one.pause(); };
}"""

#: Every alarm that was ever shown.
ALARMS = """globalThis.rang = [];
new MutationObserver(() => { const d = document.querySelector("dialog.alarm[open]"); if (d && rang.at(-1) !== d.dataset.kind) rang.push(d.dataset.kind); })
  .observe(document, { subtree: true, attributes: true, childList: true });"""

NO_CAMERA = """
name: Nursery
cameras: [{id: cot, device: /dev/video63}]
microphone: {device: test}
"""


class Untouched(Phone):
    """A browser whose page nobody has touched: it plays no sound before, as on phones."""

    def switches(self) -> list[str]:
        return [*(one for one in super().switches() if not one.startswith("--autoplay-policy")), "--autoplay-policy=document-user-activation-required"]

    def evaluate(self, expression: str) -> Any:
        reply = self.remote.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in reply:
            raise browsers.BrowserError(str(reply["exceptionDetails"]))
        return reply["result"].get("value")


def marked(sheet: str) -> str:
    return f"[...document.querySelectorAll('[data-sheet={sheet}] [data-minutes][aria-pressed=true]')].map((b) => b.dataset.minutes).join()"


class Night(Edges):
    def expect(self, phone: Phone, what: str, expression: str) -> None:
        if not phone.evaluate(expression):
            raise browsers.BrowserError(f"not so: {what}")

    def timers(self) -> None:
        """A choice of a time switches nothing on; the one that holds is marked; dimming keeps it."""
        phone = self.prepared()
        self.join(phone)
        for sheet, other, on in (("light", "5", ".main.on"), ("lullaby", "15", "[data-track][aria-pressed=true]")):
            phone.tap(f"[data-action={sheet}]")
            phone.wait("the choices", f"!!document.querySelector('[data-sheet={sheet}] [data-minutes]')")
            phone.wait("one is marked at first", f"{marked(sheet)} === {json.dumps('0' if sheet == 'light' else '30')}")
            phone.tap(f"[data-sheet={sheet}] [data-minutes='{other}']")
            phone.wait("the choice", f"{marked(sheet)} === '{other}'")
            time.sleep(0.7)
            self.expect(phone, "a choice switches nothing on", f"!document.querySelector('[data-action={sheet}].on')")
            if sheet == "light":
                phone.tap("[data-sheet=light] .main")
                phone.wait("on, for as long as was chosen", "/[45]:\\d\\d/.test(document.querySelector('[data-sheet=light] .big').textContent)")
                place = phone.place("[data-sheet=light] input[type=range]")
                phone.touch("touchStart", [place])
                for step in range(1, 6):
                    phone.touch("touchMove", [{"x": place["x"] - 8 * step, "y": place["y"]}])
                    time.sleep(0.1)
                phone.touch("touchEnd", [])
                phone.wait("dimmed", "(v => v > 20 && v < 60)(+document.querySelector('[data-sheet=light] input').value)")
                time.sleep(0.5)
                self.expect(phone, "it goes out as before", "/[45]:\\d\\d/.test(document.querySelector('[data-sheet=light] .big').textContent) && /[2-5]\\d% · [45]:/.test(document.querySelector('.status').textContent)")
                self.expect(phone, "the choice is marked", f"{marked('light')} === '5'")
                phone.tap("[data-sheet=light] [data-minutes='15']")
                phone.wait("the other one, at once", f"{marked('light')} === '15' && /1[45]:\\d\\d/.test(document.querySelector('[data-sheet=light] .big').textContent)")
            else:
                phone.tap("[data-track=heartbeat]")
                phone.wait("it plays as long as was chosen", "/1[45]:\\d\\d/.test(document.querySelector('[data-sheet=lullaby]').textContent)")
                self.expect(phone, "pause has the sign of a pause", "document.querySelector('[data-do=pause] path').getAttribute('d') === 'M8 5v14M16 5v14'")
                self.expect(phone, "the volume ends at the child's limit", "document.querySelector('[data-sheet=lullaby] input').max === '60'")
                phone.tap("[data-do=pause]")
                phone.wait("the sign of playing", "document.querySelector('[data-do=pause] path').getAttribute('d').startsWith('M8 5l')")
                phone.tap("[data-sheet=lullaby] [data-minutes='60']")
                time.sleep(0.7)
                self.expect(phone, "a choice does not start what is paused", "document.querySelector('[data-sheet=lullaby] .big').textContent.startsWith('Paused')")
                phone.tap("[data-do=pause]")
                phone.wait("it goes on with the new time", f"{marked('lullaby')} === '60' && /(59|1:00):\\d\\d/.test(document.querySelector('[data-sheet=lullaby]').textContent)")
            phone.tap("dialog header button")
            self.seen(sheet)
        # Another phone, or this one later, sees the same.
        phone.enter(self.url)
        self.wait_live(phone)
        for sheet, minutes in (("light", "15"), ("lullaby", "60")):
            phone.tap(f"[data-action={sheet}]")
            phone.wait("what is marked", f"{marked(sheet)} === '{minutes}'")
            phone.tap("dialog header button")
            phone.wait("the sheet closed", "!document.querySelector('dialog.sheet')")
        self.expect_no_errors(phone)
        self.seen("marked everywhere")
        phone.close()

    def tap(self) -> None:
        """Opened without a tap: a calm question. Sound that the browser stops rings, and the button starts it again."""
        phone = self.prepared(SOUNDS, ALARMS, kind=Untouched)
        self.join(phone)
        phone.enter(self.url)
        phone.wait("live", "!!document.querySelector('.status .state.live')")
        phone.wait("the question", "document.querySelector('.listen:not([hidden])')?.textContent === 'Tap to listen'")
        time.sleep(6)
        if rang := phone.evaluate("rang"):
            raise browsers.BrowserError(f"it rings before anybody has touched it: {rang}")
        self.expect(phone, "that nothing is heard is said", "!!document.querySelector('.hearing.not')")
        phone.tap(".listen")
        phone.wait("hearing", "!!document.querySelector('.hearing:not(.not)') && document.querySelector('.listen').hidden")
        self.seen("tap to listen")
        phone.evaluate("silence(), 0")
        phone.wait("the alarm", "document.querySelector('dialog.alarm[open]')?.dataset.kind === 'own-sound'")
        self.expect(phone, "its button says what it does", "document.querySelector('dialog.alarm .acknowledge').textContent === 'Turn sound on'")
        self.expect(phone, "no question as at first", "document.querySelector('.listen').hidden")
        phone.evaluate("globalThis.isSilenced = false, 0")
        phone.tap("dialog.alarm .acknowledge")
        phone.wait("hearing again", "!document.querySelector('dialog.alarm[open]') && !!document.querySelector('.hearing:not(.not)')")
        self.seen("turn sound on")
        # Whatever is touched first will do.
        phone.enter(self.url)
        phone.wait("the question", "!!document.querySelector('.listen:not([hidden])')")
        phone.tap("[data-action=light]")
        phone.wait("hearing", "!!document.querySelector('.hearing:not(.not)')")
        self.expect_no_errors(phone)
        self.seen("any tap")
        phone.close()

    def guest(self) -> None:
        """A guest sees until when, and no siren when the access ends."""
        phone = self.prepared()
        self.join(phone)
        self.expect(phone, "a permanent device has no end", "document.querySelector('.status .guest').hidden")
        phone.tap(".top button:last-child")
        phone.wait("who is paired", "!!document.querySelector('[data-do=invite]')?.parentElement.querySelector('.list li')")
        phone.tap("[data-do=invite]")
        phone.tap("[data-sheet=invite] .main")
        link = phone.wait("the invitation", "document.querySelector('[data-sheet=link] input')?.value")
        guest = self.prepared(ALARMS)
        guest.enter(self.url + link[link.index("#") :])
        guest.tap("[data-screen=words] .main")
        self.wait_live(guest)
        guest.wait("until when", "/^Guest until .*\\d/.test(document.querySelector('.status .guest').textContent)")
        self.seen("until when")
        self.child.output("unpair", "--all")
        guest.wait("that it is over", "!!document.querySelector('[data-refused=not-paired]')")
        guest.enter(self.url)
        guest.wait("that it is over", "!!document.querySelector('[data-refused=not-paired]')")
        time.sleep(1)
        self.expect(guest, "no alarm rang", "rang.length === 0")
        self.expect_no_errors(guest)
        self.seen("no siren")
        guest.close()
        phone.close()

    def live(self) -> None:
        """"Live" ends with the last picture, and is not said of a camera that is missing."""
        phone = self.prepared()
        self.join(phone)
        os.kill(self.options.pid, signal.SIGSTOP)
        # In turns of the page's own timer: a busy machine gives it fewer of them.
        phone.evaluate("globalThis.turns = 0, setInterval(() => { turns += document.querySelector('.state.live') ? 1 : 0; }, 100), 0")
        try:
            phone.wait("not live", "!document.querySelector('.state.live')")
            if (turns := phone.evaluate("turns")) > 24:
                raise browsers.BrowserError(f"called live for {turns / 10} s after everything stopped")
            phone.wait("a meter at rest", "document.querySelector('.meter i').style.transform === 'scaleX(0)'", 2)
        finally:
            os.kill(self.options.pid, signal.SIGCONT)
        self.seen("stopped")
        phone.close()
        with Child(self.options.program, NO_CAMERA, port=processes.reserved_port()) as other:
            opened, window = other.open_pairing()
            phone = Phone(other.origin + "/")
            phone.enter(opened["link"])
            phone.tap("[data-screen=words] .main")
            said = "No picture from the camera"
            phone.wait("which state", f"document.querySelector('.status .state').textContent === {json.dumps(said)}")
            phone.wait("the page's own words in place of the picture", f"document.querySelector('video').hidden && document.querySelector('.stage .word').textContent.startsWith({json.dumps(said)})")
            for _ in range(20):
                self.expect(phone, "it is never called live", "!document.querySelector('.state.live')")
                time.sleep(0.1)
            processes.end_process(window)
            phone.close()
        self.seen("missing")

    def first(self) -> None:
        """The first visit: nothing lies over the question; settings opened before the camera greets are complete once it has."""
        refused = "navigator.serviceWorker.register = () => Promise.reject(new DOMException('no', 'SecurityError'));"
        phone = self.prepared(LATE_HELLO, refused, "navigator.wakeLock.request = () => Promise.reject(new DOMException('no', 'NotAllowedError'));")
        window, secret = self.open_window()
        phone.enter(self.url + secret)
        phone.wait("the words", "!!document.querySelector('.words')")
        time.sleep(2.5)
        self.expect(phone, "nothing lies over the question", "!document.querySelector('.notice')")
        phone.resize(320, 568)
        phone.tap("[data-screen=words] summary")
        for choice in (".main", ".danger"):
            self.expect(phone, "no picture lies over the answers", f"(e => {{ const b = e.getBoundingClientRect(); return document.elementFromPoint(b.right - 20, b.y + b.height / 2) === e; }})((e => (e.scrollIntoView({{ block: 'center' }}), e))(document.querySelector('[data-screen=words] {choice}')))")
        phone.resize(360, 740)
        phone.tap("[data-screen=words] .main")
        phone.wait("what was to be said", "document.body.innerText.includes('The screen will turn off') && document.body.innerText.includes('Stop the browser warning')")
        processes.end_process(window)
        self.seen("words")
        phone.picture_changes()
        phone.evaluate("document.querySelector('.top button:last-child').click(), 0")
        phone.wait("the settings", "!!document.querySelector('[data-screen=settings]')")
        self.expect(phone, "nobody is listed yet", "!document.querySelector('[data-do=invite]')")
        phone.evaluate("greet(), 0")
        phone.wait("who is paired", "!!document.querySelector('[data-do=invite]')?.parentElement.querySelector('.list li')")
        self.expect_no_errors(phone)
        self.seen("settings")
        phone.close()


if __name__ == "__main__":
    raise SystemExit(page_screens.main(Night, ("timers", "tap", "guest", "live", "first")))
