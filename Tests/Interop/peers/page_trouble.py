"""The phone page where something refuses: words that differ, a second pairing, iPhones' ways, a child that has moved, a network
that changes while the page loads.

Scenarios and output as those of page_screens.py.
"""

from __future__ import annotations

import os
import signal
import time

from cradle import browsers, processes
import page_screens
from page_edges import Edges
from cradle.phone import Phone

#: A browser that lets the page through the warning and refuses its WebSocket to addresses of which this says so.
NO_SOCKET = """{
  const Whole = WebSocket;
  const isRefused = (url) => %s;
  globalThis.WebSocket = class {
    constructor(url) {
      if (!isRefused(url)) return new Whole(url);
      this.readyState = 0;
      setTimeout(() => { this.readyState = 3; this.onerror?.(new Event("error")); this.onclose?.(new CloseEvent("close", { code: 1006 })); }, 30);
    }
    send() {}
    close() {}
  };
  Object.assign(WebSocket, { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 });
}"""

NO_WAKE_LOCK = 'navigator.wakeLock.request = () => Promise.reject(new DOMException("no", "NotAllowedError"));'

NO_WEBRTC = "delete globalThis.RTCPeerConnection; delete globalThis.webkitRTCPeerConnection;"

#: Keeps what the page asks of it, and the microphones that it opens.
AUDIO_SESSION = """globalThis.types = [];
Object.defineProperty(navigator, "audioSession", { value: { set type(value) { types.push(value); } } });
globalThis.microphones = [];
{
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (...options) => {
    const stream = await open(...options);
    microphones.push(...stream.getAudioTracks());
    return stream;
  };
}"""


#: Promises of the browser that stay pending until the test says `answer.NAME()`, and time limits that do not take as long. What is stopped
#: and given back is counted.
PENDING = """{
  globalThis.answer = {};
  globalThis.counts = { stopped: 0 };
  const wait = globalThis.setTimeout;
  globalThis.setTimeout = (action, time, ...rest) => wait(action, time >= 20000 && time <= 30000 ? 1500 : time === 1500 ? 200 : time, ...rest);
  const held = (owner, name) => {
    const real = owner[name].bind(owner);
    owner[name] = (...options) => globalThis.isFree?.[name] ? real(...options)
      : new Promise((done, fail) => { answer[name] = () => real(...options).then(done, fail); });
  };
  held(navigator.mediaDevices, "getUserMedia");
  held(navigator.wakeLock, "request");
  held(navigator.clipboard, "writeText");
  const { stop } = MediaStreamTrack.prototype;
  MediaStreamTrack.prototype.stop = function () { counts.stopped += 1; stop.call(this); };
}"""


class Roaming(Phone):
    """A phone that finds other addresses than that of the page."""

    def switches(self) -> list[str]:
        return [switch for switch in super().switches() if not switch.startswith("--host-resolver-rules")]


class Trouble(Edges):
    def pairs(self) -> list[dict[str, object]]:
        return list(self.child.ask("pairs")["pairs"])

    def expect_pairs(self, count: int) -> None:
        if len(pairs := self.pairs()) != count:
            raise browsers.BrowserError(f"the child has the pairs {pairs}")

    def words(self, phone: Phone) -> None:
        window, secret = self.open_window()
        phone.enter(self.url + secret)
        phone.wait("the words", "!!document.querySelector('.words')")
        processes.end_process(window)

    def differ(self) -> None:
        """The words differ: the child forgets the pair, or the page says that it could not be told."""
        phone = self.prepared()
        self.words(phone)
        self.expect_pairs(1)
        phone.tap("[data-screen=words] summary")
        phone.tap("[data-screen=words] .danger")
        self.says(phone, "that it was removed", "The camera has removed this phone.")
        self.expect_pairs(0)
        phone.tap("[data-screen=cancelled] .main")
        phone.wait("the opening", "!!document.querySelector('[data-screen=opening]')")
        self.seen("removed")
        self.words(phone)
        os.kill(self.options.pid, signal.SIGSTOP)
        try:
            phone.tap("[data-screen=words] summary")
            phone.tap("[data-screen=words] .danger")
            self.says(phone, "that it could not be told", "The camera could not be reached. It may still")
            self.says(phone, "the command", "cradle-child unpair")
        finally:
            os.kill(self.options.pid, signal.SIGCONT)
        self.expect_no_errors(phone)
        self.seen("could not be told")
        phone.close()

    def again(self) -> None:
        """A link that is opened where this child is paired already."""
        phone = self.prepared()
        self.join(phone)
        for choice in ("watch", "again"):
            window, secret = self.open_window()
            phone.enter(self.url + secret)
            self.says(phone, "that it is paired", "already")
            self.says(phone, "what it may", "manage")
            phone.tap(f"[data-do={choice}]")
            if choice == "again":
                phone.tap("[data-screen=words] .main")
            self.wait_live(phone)
            self.expect_pairs(1)
            processes.end_process(window)
            self.seen(choice)
        self.expect_no_errors(phone)
        phone.close()

    def lockdown(self) -> None:
        """Without WebRTC nothing is paired, and the link is still good for another browser."""
        phone = self.prepared(NO_WEBRTC)
        window, secret = self.open_window()
        phone.enter(self.url + secret)
        self.says(phone, "why", "blocks WebRTC")
        self.expect_pairs(0)
        self.expect_no_errors(phone)
        phone.close()
        self.seen("said")
        other = self.prepared("if (localStorage.locked) { " + NO_WEBRTC + " }")
        other.enter(self.url + secret)
        other.tap("[data-screen=words] .main")
        self.wait_live(other)
        processes.end_process(window)
        self.seen("link still good")
        other.evaluate("localStorage.locked = 1, 0")
        other.enter(self.url)
        other.wait("the refusal", "document.querySelector('[data-refused=no-webrtc]')?.innerText.includes('Lockdown Mode')")
        self.expect_no_errors(other)
        self.seen("paired before")
        other.close()

    def socket(self) -> None:
        phone = self.prepared(NO_SOCKET % "true")
        self.words(phone)
        phone.tap("[data-screen=words] .main")
        self.says(phone, "what to do", "this browser refuses its live connection. Install the certificate")
        self.expect_no_errors(phone)
        self.seen("said")
        phone.close()

    def moved(self) -> None:
        """The child is not at the address of the pairing any more, but at another that it had named."""
        phone = self.prepared("if (localStorage.moved) " + NO_SOCKET % "new URL(url).host === location.host", kind=Roaming)
        self.join(phone)
        if phone.evaluate("!document.querySelector('.moved').hidden"):
            raise browsers.BrowserError("it says that it has moved")
        phone.evaluate("localStorage.moved = 1, 0")
        phone.enter(self.url)
        self.wait_live(phone)
        link = phone.wait("where it is", "document.querySelector('.moved:not([hidden]) a')?.href")
        if link == self.url or not str(link).endswith(f":{self.options.port}/"):
            raise browsers.BrowserError(f"it is said to be at {link}")
        self.says(phone, "that it has moved", "The camera has a new address")
        self.expect_pairs(1)
        self.expect_no_errors(phone)
        self.seen("found at its new address")
        phone.close()

    def awake(self) -> None:
        for script in (NO_WAKE_LOCK, "delete Navigator.prototype.wakeLock;"):
            phone = self.prepared(script)
            self.words(phone)
            phone.tap("[data-screen=words] .main")
            self.says(phone, "that it goes dark", "The screen will turn off")
            self.wait_live(phone)
            phone.wait("the notice gone", "!document.querySelector('.notice')")
            phone.tap(".top button:last-child")
            phone.wait("the settings, which keep it", "document.querySelector('[data-screen=settings] .problem')?.innerText.includes('The screen will turn off')")
            self.expect_no_errors(phone)
            phone.close()
        self.seen("said")

    def audio(self) -> None:
        phone = self.prepared(AUDIO_SESSION)
        self.join(phone)
        phone.wait("the loudspeaker", "types.at(-1) === 'playback'")
        spot = phone.place(".talk")
        phone.touch("touchStart", [spot])
        phone.wait("talking", "!!document.querySelector('.talk.on')")
        phone.wait("the microphone", "types.at(-1) === 'play-and-record' && microphones[0]?.readyState === 'live'")
        phone.touch("touchEnd", [])
        phone.wait("the microphone closed", "microphones[0].readyState === 'ended' && types.at(-1) === 'playback'", 5)
        self.expect_no_errors(phone)
        self.seen("closed at once")
        phone.close()

    def loading(self) -> None:
        """Files that fail or never come: the page says so and loads again by itself."""
        for name, begin, end in (
            ("fails", ("Network.setBlockedURLs", {"urls": ["*core/watcher.js"]}), ("Network.setBlockedURLs", {"urls": []})),
            ("hangs", ("Fetch.enable", {"patterns": [{"urlPattern": "*core/watcher.js"}]}), ("Fetch.disable", {})),
        ):
            phone = self.prepared()
            phone.remote.command("Network.enable")
            phone.remote.command("Network.setCacheDisabled", cacheDisabled=True)
            phone.remote.command(begin[0], **begin[1])
            phone.remote.command("Page.navigate", url=self.url)
            phone.wait("that it was interrupted", "document.body?.innerText.includes('Loading was interrupted. Trying again')")
            phone.remote.command(end[0], **end[1])
            phone.wait("the opening", "!!document.querySelector('[data-screen=opening]')")
            self.seen(name)
            phone.close()
        # A phone that slept, or had no time for it, has not waited for its files.
        phone = self.prepared("globalThis.real = Date.now;")
        phone.remote.command("Network.setCacheDisabled", cacheDisabled=True)
        phone.remote.command("Fetch.enable", patterns=[{"urlPattern": "*core/watcher.js"}])
        phone.remote.command("Page.navigate", url=self.url)
        phone.wait("the page without its scripts", "!!document.querySelector('#app > .late')")
        phone.evaluate("(Date.now = () => real() + 3_600_000, globalThis.before = 1, 0)")
        time.sleep(1.5)
        phone.remote.command("Fetch.disable")
        phone.wait("the opening", "!!document.querySelector('[data-screen=opening]')")
        if not phone.evaluate("globalThis.before"):
            raise browsers.BrowserError("it was loaded again because the clock went on")
        self.seen("slept")
        phone.close()

    def styles(self) -> None:
        """A style sheet that fails or never comes: the page says so, works, and fetches it again until it is there."""
        for name, begin, end in (
            ("fails", ("Network.setBlockedURLs", {"urls": ["*css/base.css*", "*css/watch.css*"]}), ("Network.setBlockedURLs", {"urls": []})),
            # Only the first request stays open; another one comes through.
            ("hangs", ("Fetch.enable", {"patterns": [{"urlPattern": "*css/watch.css"}]}), None),
        ):
            phone = self.prepared()
            phone.remote.command("Network.enable")
            phone.remote.command("Network.setCacheDisabled", cacheDisabled=True)
            phone.remote.command("Network.setBypassServiceWorker", bypass=True)
            phone.remote.command(begin[0], **begin[1])
            phone.remote.command("Page.navigate", url=self.url)
            phone.wait("the opening without its styles", "!!document.querySelector('[data-screen=opening]')")
            if end:
                self.says(phone, "that it is incomplete", "Part of this page did not load")
                phone.wait("the button above everything", "!!document.querySelector('#incomplete:popover-open button')")
                phone.remote.command(end[0], **end[1])
            phone.wait(
                "the styles in their order",
                "[...document.styleSheets].map((one) => one.href.match(/\\w+(?=\\.css)/)[0]).join() === 'base,watch,sheets,alarm'"
                " && [...document.styleSheets].every((one) => { try { return one.cssRules.length > 3; } catch { return false; } })",
            )
            phone.wait("no word of it", "!document.querySelector('#incomplete')")
            if phone.evaluate("sessionStorage.getItem('cradle-loading')"):
                raise browsers.BrowserError("the whole page was loaded again")
            self.seen(name)
            phone.close()

    def pending(self) -> None:
        """What the browser does not answer is said after a time, and what comes late changes nothing that is shown."""
        phone = self.prepared(PENDING)
        self.join(phone)
        self.says(phone, "that the screen will turn off", "The screen will turn off")
        phone.evaluate("answer.request(), 0")
        phone.touch("touchStart", [phone.place(".talk")])
        phone.wait("whom it waits for", "document.querySelector('.talk').textContent === 'Allow the microphone …'")
        if self.child.ask("status").get("talk", {}).get("holder"):
            raise browsers.BrowserError("nobody else may talk, and this phone does not either")
        self.says(phone, "that there is no microphone", "The browser did not give the microphone.")
        phone.touch("touchEnd", [])
        phone.wait("a button that can be pressed again", "(b => b.ariaBusy !== 'true' && b.textContent === 'Hold to talk')(document.querySelector('.talk'))")
        phone.evaluate("answer.getUserMedia(), 0")
        phone.wait("the late microphone closed", "counts.stopped === 1")
        phone.evaluate("(globalThis.isFree = { getUserMedia: true }, 0)")
        phone.touch("touchStart", [phone.place(".talk")])
        phone.wait("talking", "!!document.querySelector('.talk.on')")
        phone.touch("touchEnd", [])
        phone.wait("the end of talking", "!document.querySelector('.talk.on')")
        self.seen("microphone")
        # Notices may cover it.
        phone.evaluate("document.querySelector('.top button:last-child').click(), 0")
        phone.wait("settings", "!!document.querySelector('[data-screen=settings]')")
        if phone.evaluate("document.querySelector('[data-screen=settings]').innerText.includes('The screen will turn off')"):
            raise browsers.BrowserError("it still says that the screen turns off")
        self.seen("wake lock")
        phone.evaluate("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Copy').click(), 0")
        self.says(phone, "that nothing was copied", "That did not work.")
        self.expect_no_errors(phone)
        self.seen("clipboard")
        phone.close()


if __name__ == "__main__":
    raise SystemExit(page_screens.main(Trouble, ("differ", "again", "lockdown", "socket", "moved", "awake", "audio", "loading", "styles", "pending")))
