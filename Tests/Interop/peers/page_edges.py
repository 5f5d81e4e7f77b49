"""The phone page where something is missing or strange: storage, microphone, trust, a newer child, a second tab, a sleep.

Scenarios and output as those of page_screens.py.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import time

from cradle import browsers, processes
import page_screens
from cradle.phone import Phone
from cradle.process_usage import cpu_seconds

#: Runs before the page's scripts: keeps what went wrong without being caught.
WATCH_ERRORS = """globalThis.errors = [];
addEventListener("error", ({ message }) => errors.push(message));
addEventListener("unhandledrejection", ({ reason }) => errors.push(String(reason?.stack ?? reason)));"""

#: As some private windows do.
NO_DATABASE = 'IDBFactory.prototype.open = () => { throw new DOMException("denied", "SecurityError"); };'

NO_WORKER = """navigator.serviceWorker.register = () =>
  Promise.reject(new DOMException("an SSL certificate error occurred", "SecurityError"));"""

#: A child of a version that nobody has written yet: its hello, state and replies have more than this page knows, some of
#: it with other types, and it says things in between. One order is refused for a reason without a name here.
NEWER_CHILD = """{
  const { set } = Object.getOwnPropertyDescriptor(RTCDataChannel.prototype, "onmessage");
  const news = [
    { text: "weather", parameters: { rain: true } }, { text: "state", parameters: { moon: { phase: 3 }, cameras: "many" } },
    { text: "event", parameters: { kind: "moonrise" } }, { text: "event", parameters: 7 }, { text: "level", parameters: { levelDb: "quiet" } },
    { text: "heartbeat", parameters: { lights: [] } }, { text: "ok", inReplyTo: "999", parameters: {} }, ["a list"], null, 5,
  ].map((message) => JSON.stringify(message)).concat("no JSON {", new ArrayBuffer(9), new ArrayBuffer(2));
  globalThis.newsTold = 0;
  const change = (text) => {
    const message = JSON.parse(text);
    const { parameters } = message;
    if (message.text === "hello") {
      Object.assign(parameters, { version: "99.0.0", planet: ["earth"] });
      parameters.capabilities.push("moon.set");
      parameters.permissions.push("dream");
      Object.assign(parameters.state, { moon: { phase: 2 } });
      for (const light of parameters.state.lights) Object.assign(light, { color: { r: 1 }, scenes: ["dusk"] });
    }
    if (message.text === "ok" && parameters.light && !globalThis.moonSaid) {
      globalThis.moonSaid = true;
      Object.assign(message, { text: "error", parameters: { code: "moonlight", message: "the moon is bright enough" } });
    }
    return JSON.stringify(message);
  };
  Object.defineProperty(RTCDataChannel.prototype, "onmessage", { set(handler) {
    set.call(this, handler && ((event) => {
      handler(new MessageEvent("message", { data: typeof event.data === "string" ? change(event.data) : event.data }));
      for (const data of news) handler(new MessageEvent("message", { data }));
      globalThis.newsTold += 1;
    }));
  } });
}"""

#: Does something to the document before the page's scripts run.
FROM_THE_BEGINNING = """new MutationObserver(() => { if (document.documentElement) { %s } }).observe(document, { childList: true });"""

#: What a person should be able to press or read, and is not wholly on the screen from side to side.
STICKING_OUT = """[...document.querySelectorAll('button, a, input, select, h1, h2, p, label, output, dd, dt')]
  .filter((e) => e.checkVisibility() && e.getClientRects().length)
  .map((e) => [e, e.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && (box.left < -1 || box.right > innerWidth + 1))
  .map(([e, box]) => [e.outerHTML.slice(0, 80), Math.round(box.left), Math.round(box.right)])"""

#: The time from waking until sound is decoded again, by the connection that is there then.
WATCH_WAKING = """{
  const Connection = RTCPeerConnection;
  const connections = [];
  globalThis.RTCPeerConnection = class extends Connection {
    constructor(...options) { super(...options); connections.push(this); }
  };
  const energy = async () => {
    let sum = 0;
    for (const connection of connections) {
      if (connection.connectionState !== "connected") continue;
      for (const entry of (await connection.getStats()).values()) {
        if (entry.type === "inbound-rtp" && entry.kind === "audio") sum = Math.max(sum, entry.totalSamplesReceived - entry.concealedSamples);
      }
    }
    return sum;
  };
  globalThis.watchWaking = () => {
    let ticked = performance.now();
    const timer = setInterval(async () => {
      const now = performance.now();
      const slept = now - ticked;
      ticked = now;
      if (slept < 5000) return;
      clearInterval(timer);
      const before = connections.length;
      for (;;) {
        await new Promise((done) => setTimeout(done, 20));
        // Half a tenth of a second of sound that the child's new session has sent.
        const fresh = connections.slice(before - 1).filter(({ connectionState }) => connectionState === "connected");
        if (fresh.length && await energy() > 2400 && connections.length > before) break;
      }
      globalThis.wokeMs = performance.now() - now;
    }, 100);
  };
}"""


#: A camera that is taken over, and strangers who chose their names: markup, links that run, text that turns around, piles of accents, and length.
HOSTILE_CAMERA = r"""{
  const { set } = Object.getOwnPropertyDescriptor(RTCDataChannel.prototype, "onmessage");
  const markup = "<img src=x onerror='globalThis.injected=1'><script>globalThis.injected=1</script>";
  globalThis.nasty = `javascript:globalThis.injected=1//${markup}\u202egnp.exe\u2066\u0007\n\u{e0041}${"e" + "\u0301".repeat(300)}${"W".repeat(100000)}`;
  const nastily = (value, key) => typeof value === "string" && !["id", "state", "viewer"].includes(key) ? nasty
    : Array.isArray(value) ? value.map((one) => nastily(one)) : value && typeof value === "object"
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, nastily(one, key)])) : value;
  const change = (text) => {
    const message = JSON.parse(text);
    const { parameters } = message;
    if (message.text === "hello") {
      const { capabilities, permissions } = parameters;
      Object.assign(parameters, nastily(parameters), { capabilities, permissions: [...permissions, nasty], origins: ["javascript:alert(1)//", "data:text/html,x", nasty, 7] });
      parameters.state.viewers.push({ id: nasty, name: nasty, since: 1 }, { id: "peer-9", name: { toString: 7 }, since: 1 });
      for (const list of ["lights", "cameras"]) parameters.state[list].push(...[1, 2].map((n) => ({ ...parameters.state[list][0], id: nasty + n, state: "missing", name: nasty })));
    } else if (message.text === "ok" && parameters.pairs) {
      parameters.pairs = [{ id: "x", name: nasty, permissions: [nasty], expiresAt: null }];
    } else if (message.text === "ok" && !parameters.transfer) message.parameters = nastily(parameters);
    if (globalThis.refusesNastily && message.text === "ok") Object.assign(message, { text: "error", parameters: { code: nasty, message: nasty } });
    return JSON.stringify(message);
  };
  Object.defineProperty(RTCDataChannel.prototype, "onmessage", { set(handler) {
    set.call(this, handler && ((event) => handler(new MessageEvent("message", { data: typeof event.data === "string" ? change(event.data) : event.data }))));
  } });
}"""

#: What of it got through, as a sentence.
GOT_THROUGH = r"""(() => {
  const all = [...document.querySelectorAll("*")];
  const texts = [document.title, navigator.mediaSession.metadata?.title ?? "", document.body.innerText,
    ...all.flatMap((e) => ["title", "aria-label", "alt", "value", "aria-valuetext"].map((name) => e.getAttribute(name) ?? ""))];
  if (globalThis.injected) return "a script ran";
  if (document.querySelector("img[src=x], #app script, dialog script")) return "markup became elements";
  const link = [...document.querySelectorAll("a[href]")].find(({ protocol }) => !["https:", "blob:"].includes(protocol));
  if (link) return `a link to ${link.href.slice(0, 40)}`;
  const odd = texts.find((text) => /[\u202a-\u202e\u2066-\u2069\u0007\u{e0041}]|\u0301{6}/u.test(text));
  if (odd !== undefined) return `text that turns around or piles up: ${JSON.stringify(odd.slice(0, 80))}`;
  const long = texts.find((text) => text.length > 20000) ?? all.flatMap((e) => [...e.childNodes]).find((n) => n.nodeType === 3 && n.data.length > 1000 && !n.parentElement.closest("script"))?.data;
  if (long) return `a text of ${long.length}: ${long.slice(0, 60)}`;
  if (document.documentElement.scrollWidth > innerWidth + 1) return "it scrolls sideways";
  return "";
})()"""


#: A camera that greets late: picture and sound are there before.
LATE_HELLO = """{
  const { set } = Object.getOwnPropertyDescriptor(RTCDataChannel.prototype, "onmessage");
  const waiting = [];
  globalThis.greet = () => { globalThis.isGreeted = true; for (const deliver of waiting.splice(0)) deliver(); };
  Object.defineProperty(RTCDataChannel.prototype, "onmessage", { set(handler) {
    set.call(this, handler && ((event) => globalThis.isGreeted ? handler(event) : waiting.push(() => handler(event))));
  } });
}"""


class Tab(Phone):
    """Another tab of a browser that runs."""

    def __init__(self, other: Phone):
        self.process, self.profile, self.log_path = other.process, other.profile, other.log_path
        target = other.remote.command("Target.createTarget", url="about:blank")["targetId"]
        port = (pathlib.Path(other.profile) / other.port_file).read_text().split()[0]
        self.remote = browsers.Remote(f"ws://127.0.0.1:{port}/devtools/page/{target}")
        self.remote.command("Page.enable")
        self.resize(360, 740)

    def tap(self, selector: str) -> None:
        # Tabs behind get no fingers.
        self.remote.command("Page.bringToFront")
        super().tap(selector)


class Denied(Phone):
    """A browser that asks before it opens the microphone."""

    def switches(self) -> list[str]:
        return [switch for switch in super().switches() if switch != "--use-fake-ui-for-media-stream"]


class Edges(page_screens.Household):
    def prepared(self, *scripts: str, kind: type[Phone] = Phone) -> Phone:
        phone = kind(self.url)
        for script in (WATCH_ERRORS, *scripts):
            phone.remote.command("Page.addScriptToEvaluateOnNewDocument", source=script)
        return phone

    def join(self, phone: Phone) -> None:
        """Pairs, without a look at the words."""
        window, secret = self.open_window()
        phone.enter(self.url + secret)
        phone.tap("[data-screen=words] .main")
        self.wait_live(phone)
        processes.end_process(window)

    def wait_live(self, phone: Phone) -> None:
        phone.wait("live", "!!document.querySelector('.status .state.live')")
        phone.wait("hearing", "!!document.querySelector('.hearing:not(.not)')")

    def expect_no_errors(self, phone: Phone) -> None:
        if errors := phone.evaluate("errors"):
            raise browsers.BrowserError(f"not caught: {errors}")

    def says(self, phone: Phone, what: str, words: str) -> None:
        phone.wait(what, f"document.body.innerText.includes({json.dumps(words)})")

    def storage(self) -> None:
        """A private window that keeps nothing; then a browser that deleted what it had kept."""
        phone = self.prepared(NO_DATABASE)
        phone.enter(self.url)
        self.says(phone, "that nothing is kept", "This window keeps nothing")
        window, secret = self.open_window()
        phone.enter(self.url + secret)
        phone.wait("the words", "!!document.querySelector('.words')")
        self.says(phone, "that nothing is kept", "This window keeps nothing")
        phone.tap("[data-screen=words] .main")
        self.wait_live(phone)
        processes.end_process(window)
        self.expect_no_errors(phone)
        self.seen("nothing kept, watched all the same")
        phone.close()

        phone = self.prepared()
        self.join(phone)
        phone.open("about:blank")
        origin = self.url.rstrip("/")
        phone.remote.command("Storage.clearDataForOrigin", origin=origin, storageTypes="indexeddb")
        phone.enter(self.url)
        self.says(phone, "that the pair was lost", "the browser deleted that")
        self.seen("lost pair")
        self.join(phone)
        self.expect_no_errors(phone)
        phone.close()

    def microphone(self) -> None:
        """Refused, and allowed later."""
        phone = self.prepared(kind=Denied)
        self.allow_microphone(phone, "denied")
        self.join(phone)
        self.hold(phone)
        self.says(phone, "that the microphone is refused", "may not use the microphone")
        phone.touch("touchEnd", [])
        phone.wait("no talking", "!document.querySelector('.talk.on')")
        self.wait_live(phone)
        self.seen("refused")
        self.allow_microphone(phone, "granted")
        self.hold(phone)
        phone.wait("talking", "!!document.querySelector('.talk.on')")
        self.wait_spoken("once it was allowed")
        phone.touch("touchEnd", [])
        phone.wait("the end of talking", "!document.querySelector('.talk.on')")
        self.expect_no_errors(phone)
        self.seen("allowed later")
        phone.close()

    def hold(self, phone: Phone) -> None:
        phone.touch("touchStart", [phone.place(".talk")])

    def allow_microphone(self, phone: Phone, setting: str) -> None:
        phone.remote.command(
            "Browser.setPermission", permission={"name": "microphone"}, setting=setting, origin=self.url.rstrip("/")
        )

    def tabs(self) -> None:
        """Two tabs of one browser: both live; what one changes the other follows."""
        first = self.prepared()
        self.join(first)
        second = Tab(first)
        second.remote.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH_ERRORS)
        second.enter(self.url)
        for tab in (first, second):
            self.wait_live(tab)
            tab.remote.command("Page.bringToFront")
            tab.picture_changes()
        self.seen("both live")
        for tab in (first, second):
            tab.remote.command("Page.bringToFront")
            tab.tap(".top button:last-child")
            tab.wait("the switch", "!!document.querySelector('[data-setting=flash]')")
        first.remote.command("Page.bringToFront")
        first.tap("[data-setting=flash]")
        second.wait("the switch follows", "document.querySelector('[data-setting=flash]').checked === false")
        self.seen("settings follow")
        first.tap("[data-do=forget]")
        first.tap("dialog .danger")
        for tab in (first, second):
            tab.wait("no child any more", "!!document.querySelector('[data-screen=opening]') && !document.querySelector('.watch')")
            self.expect_no_errors(tab)
        self.seen("forgotten in both")
        first.close()

    def newer(self) -> None:
        """A child of a later version."""
        phone = self.prepared(NEWER_CHILD)
        self.join(phone)
        phone.picture_changes()
        phone.wait("messages from the future", "newsTold > 20")
        self.wait_live(phone)
        self.seen("live")
        phone.tap("[data-action=light]")
        phone.tap("[data-sheet=light] .main")
        self.says(phone, "a sentence", "That did not work.")
        self.says(phone, "the child's own words", "the moon is bright enough")
        self.seen("unknown refusal")
        phone.tap("[data-sheet=light] .main")
        phone.wait("orders go on", "document.querySelector('[data-sheet=light] .main').classList.length >= 1")
        phone.tap("dialog header button")
        phone.tap("[data-action=shot]")
        phone.wait("the still", "(i => i?.complete && i.naturalWidth > 0)(document.querySelector('[data-sheet=shot] img'))")
        phone.tap("dialog header button")
        self.expect_no_errors(phone)
        self.seen("still")
        phone.close()

    def hostile(self) -> None:
        """A camera that is taken over, or people with odd names, put nothing on the page but plain words of a length."""
        phone = self.prepared()
        self.join(phone)
        phone.remote.command("Page.addScriptToEvaluateOnNewDocument", source=HOSTILE_CAMERA)
        phone.enter(self.url)
        self.wait_live(phone)

        def harmless(where: str) -> None:
            time.sleep(0.3)
            if what := phone.evaluate(GOT_THROUGH):
                raise browsers.BrowserError(f"{where}: {what}")

        phone.wait("the name", "document.querySelector('.name').textContent.includes('<img src=x')")
        harmless("watching")
        for opener, sheet in (("[data-action=light]", "light"), ("[data-action=lullaby]", "lullaby"), ("[data-action=camera]", "camera"), (".status", "details")):
            phone.evaluate(f"document.querySelector('{opener}').click(), 0")
            phone.wait(sheet, f"!!document.querySelector('[data-sheet={sheet}]')")
            harmless(sheet)
            phone.evaluate("document.querySelector('dialog.sheet header button').click(), 0")
        self.seen("sheets")
        phone.evaluate("document.querySelector('.top button:last-child').click(), 0")
        phone.wait("who is paired", "document.querySelectorAll('[data-screen=settings] .list li').length > 0")
        harmless("settings")
        phone.evaluate("(globalThis.refusesNastily = true, document.querySelector('[data-do=alarm]').click(), 0)")
        phone.wait("the test alarm", "!!document.querySelector('dialog.alarm[open]')")
        phone.evaluate("[...document.querySelectorAll('[data-screen=settings] button')].filter((b) => /Pair another/.test(b.textContent)).forEach((b) => b.click()), 0")
        phone.wait("a refusal", "!!document.querySelector('.notice')")
        harmless("the alarm")
        if not phone.evaluate("(b => { const box = b.getBoundingClientRect(); return document.elementFromPoint(box.x + box.width / 2, box.y + box.height - 12) === b; })(document.querySelector('.acknowledge'))"):
            raise browsers.BrowserError("a refusal covers the alarm's button")
        phone.evaluate("document.querySelector('dialog.alarm[open] .acknowledge').click(), 0")
        self.seen("settings and alarm")
        phone.enter(self.url)
        self.wait_live(phone)
        phone.evaluate("document.querySelector('.top .name').click(), 0")
        phone.wait("the rooms", "!!document.querySelector('[data-child]')")
        harmless("rooms")
        # The worker keeps the files of this page alone, whatever is asked for.
        phone.evaluate("Promise.allSettled(['./healthz', './page/0/app.js', './page/../evil.js', 'https://localhost:1/page/evil.js'].map((url) => fetch(url))).then(() => 0)")
        kept = phone.evaluate("caches.keys().then((names) => Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => url)))).then((all) => all.flat())")
        own = re.compile(re.escape(self.url) + r"(page/[0-9a-f]{16}/(app\.js|(core|css|icons|rooms|screens|texts)/[\w.-]+)|push-words)?")
        if not kept or (strange := [url for url in kept if not own.fullmatch(url)]):
            raise browsers.BrowserError(f"the worker keeps {strange if kept else kept}")
        self.expect_no_errors(phone)
        self.seen("kept")
        phone.close()

    def asleep(self) -> None:
        """The phone sleeps until the child has given its session up, and wakes."""
        phone = self.prepared(WATCH_WAKING)
        self.join(phone)
        phone.evaluate("watchWaking(), 0")
        # A page that is frozen goes on answering for its connection; a phone that sleeps does not.
        renderer = self.renderer(phone)
        os.kill(renderer, signal.SIGSTOP)
        try:
            deadline = time.monotonic() + 60
            while self.child.ask("status")["viewers"]:
                if time.monotonic() > deadline:
                    raise browsers.BrowserError("the child keeps a dead session")
                time.sleep(0.5)
            self.seen("given up")
        finally:
            os.kill(renderer, signal.SIGCONT)
        woke = phone.wait("sound after waking", "globalThis.wokeMs")
        processes.log(f"sound {woke:.0f} ms after waking")
        self.wait_live(phone)
        phone.picture_changes()
        self.expect_no_errors(phone)
        self.seen("awake")
        phone.close()

    def untrusted(self) -> None:
        """No service worker: the page works, and says how to be trusted."""
        phone = self.prepared(NO_WORKER)
        self.join(phone)
        phone.enter(self.url)
        self.wait_live(phone)
        self.seen("works without")
        phone.tap(".top button:last-child")
        phone.tap("[data-tab=help]")
        phone.tap("[data-page=help] summary")
        self.says(phone, "that it is not trusted", "does not trust the connection yet")
        links = phone.evaluate("[...document.querySelectorAll('a[href^=\"./certificate\"]')].map(a => a.pathname)")
        if set(links) != {"/certificate.crt", "/certificate.mobileconfig"}:
            raise browsers.BrowserError(f"the downloads are {links}")
        for path in sorted(set(links)):
            kind, size = phone.evaluate(f"fetch('{path}').then(async r => [r.ok && r.headers.get('content-type'), (await r.arrayBuffer()).byteLength])")
            if not str(kind).startswith("application/x-") or size < 200:
                raise browsers.BrowserError(f"{path}: {kind}, {size} bytes")
        self.expect_no_errors(phone)
        self.seen("certificate help")
        phone.close()

    def elsewhere(self) -> None:
        """A child at another address that does not answer, as one with a certificate that nobody has accepted yet."""
        phone = self.prepared()
        self.join(phone)
        phone.tap(".top button:last-child")
        phone.tap("[data-do=add]")
        phone.wait("the field", "!!document.querySelector('input[type=url]')")
        other = "https://127.0.0.1:9"
        phone.evaluate(
            f"(i => {{ i.value = '{other}/#pair=AAECAwQFBgcICQoLDA0ODw'; i.form.requestSubmit(); }})(document.querySelector('input[type=url]')), 0"
        )
        self.says(phone, "that it is not reached", "cannot be reached")
        phone.wait("the way to its own page", f"document.querySelector('.own a')?.href === '{other}/'")
        self.expect_no_errors(phone)
        self.seen("its own page")
        phone.close()

    def loud(self) -> None:
        """The test tone has −20 dB."""
        phone = self.prepared("globalThis.shakes = []; navigator.vibrate = (pattern) => shakes.push(pattern);")
        self.join(phone)
        phone.evaluate(
            "globalThis.flashes = 0; new MutationObserver(() => flashes += document.querySelector('.flash.now') ? 1 : 0)"
            ".observe(document.querySelector('.flash'), { attributes: true }); 0"
        )
        phone.tap(".top button:last-child")
        phone.evaluate("document.querySelector('[data-setting=loud]').focus(), 0")
        phone.key("keyDown", key="Home", code="Home", windowsVirtualKeyCode=36)
        phone.key("keyUp", key="Home", code="Home", windowsVirtualKeyCode=36)
        for _ in range(3):
            phone.key("keyDown", key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
            phone.key("keyUp", key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)
        phone.wait("a flash", "flashes > 0")
        phone.wait("a shake", "shakes.some((pattern) => pattern.length > 1)")
        self.seen("flash and shake")
        phone.evaluate("history.back(), 0")
        phone.enter(self.url)
        self.wait_live(phone)
        phone.wait("a shake after loading again", "shakes.length > 0")
        self.expect_no_errors(phone)
        self.seen("kept")
        phone.close()

    def steady(self) -> None:
        """Sound may wait for late packets, where the browser can."""
        box = "document.querySelector('[data-setting=steadySound]')"
        phone = self.prepared()
        self.join(phone)
        phone.tap(".top button:last-child")
        phone.wait("the switch, off", f"{box}?.checked === false && !{box}.disabled")
        self.seen("off at first")
        phone.tap("[data-setting=steadySound]")
        phone.wait("the switch, on", f"{box}.checked")
        phone.enter(self.url)
        self.wait_live(phone)
        phone.tap(".top button:last-child")
        phone.wait("the switch, still on", f"{box}?.checked")
        self.expect_no_errors(phone)
        self.seen("kept")
        phone.close()
        old = self.prepared("delete RTCRtpReceiver.prototype.jitterBufferTarget;")
        self.join(old)
        old.tap(".top button:last-child")
        old.wait("the switch, greyed", f"{box}?.disabled && {box}.closest('label').textContent.includes('cannot do that')")
        self.expect_no_errors(old)
        self.seen("greyed with the reason")
        old.close()

    def late(self) -> None:
        """What is opened before the camera has greeted has everything once it has."""
        phone = self.prepared(LATE_HELLO)
        window, secret = self.open_window()
        phone.enter(self.url + secret)
        phone.tap("[data-screen=words] .main")
        phone.picture_changes()
        processes.end_process(window)
        shown = "[...document.querySelectorAll('.tiles [data-action]')].filter((b) => b.checkVisibility()).map((b) => b.dataset.action).join()"
        if "proofs" in (shows := phone.evaluate(shown)):
            raise browsers.BrowserError(f"before the camera has greeted it shows {shows}")
        phone.evaluate("greet(), 0")
        phone.wait("what the camera can do", f"{shown} === 'shot,camera,privacy,night,proofs,recordings'")
        self.expect_no_errors(phone)
        self.seen("shown once it is known")
        phone.close()

    def proofs(self) -> None:
        """What the speaker plays is carried to the microphone, by who started this."""
        phone = self.prepared()
        self.join(phone)
        phone.tap("[data-action=proofs]")
        phone.wait("the test", "!!document.querySelector('[data-sheet=proofs] [data-do=test]')")
        phone.tap("[data-do=test]")
        phone.wait("that it runs", "document.querySelector('[data-proof=hearing]').textContent.startsWith('Listening')")
        phone.wait("the proof", "document.querySelector('[data-proof=hearing]').textContent.startsWith('Heard end to end')")
        self.seen("heard end to end")
        phone.tap("[data-do=drill]")
        phone.tap("[data-sheet=confirm] .danger")
        for kinds in ("link",), ("frozen-picture", "camera"), ("microphone", "digital-silence"):
            phone.wait(f"the alarm {kinds}", f"{json.dumps(kinds)}.includes(document.querySelector('dialog.alarm[open]')?.dataset.kind)")
            if not phone.evaluate("document.querySelector('dialog.alarm[open]').textContent.includes('A fire drill is running')"):
                raise browsers.BrowserError("the alarm does not say that it is a drill")
            phone.tap("dialog.alarm .acknowledge")
            phone.wait("the alarm acknowledged", "!document.querySelector('dialog.alarm[open]')")
        # The alarm has taken the sheet's place.
        phone.tap("[data-action=proofs]")
        phone.wait("the result", "document.querySelector('[data-proof=drill]')?.textContent.startsWith('Passed')")
        told = phone.evaluate("document.querySelector('[data-proof=drill]').lastChild.textContent")
        if told.count("acknowledged") != 3:
            raise browsers.BrowserError(f"the result is: {told}")
        self.wait_live(phone)
        # What was filled in while the sound was withheld is no fault of this phone.
        time.sleep(4)
        if phone.evaluate("!!document.querySelector('dialog.alarm[open]')"):
            raise browsers.BrowserError("another alarm follows the drill")
        self.seen("drill passed")
        self.expect_no_errors(phone)
        phone.close()

    def keyboard(self) -> None:
        """No pointer at all: Tab, Enter, Space, arrows, Escape."""
        phone = self.prepared()
        phone.resize(1280, 800)
        window, secret = self.open_window()
        phone.enter(self.url + secret)
        phone.wait("the words", "!!document.querySelector('.words')")
        self.go(phone, "[data-screen=words] .main")
        self.wait_live(phone)
        processes.end_process(window)
        self.seen("words")
        self.go(phone, "[data-action=light]")
        self.go(phone, "[data-sheet=light] .main")
        phone.wait("the light on", "!!document.querySelector('[data-sheet=light] .main.on')")
        self.tab_to(phone, "[data-sheet=light] input[type=range]")
        before = phone.evaluate("+document.activeElement.value")
        self.strike(phone, "ArrowLeft", 37)
        phone.wait("less bright", f"+document.querySelector('[data-sheet=light] input').value < {before} || {before} === 0")
        self.strike(phone, "Escape", 27)
        phone.wait("the sheet closed", "!document.querySelector('dialog.sheet')")
        phone.wait("the focus where it was", "document.activeElement?.dataset.action === 'light'")
        self.seen("light")
        self.go(phone, "[data-action=lullaby]")
        self.go(phone, "[data-track=heartbeat]")
        phone.wait("the track played", "document.querySelector('[data-track=heartbeat]').ariaPressed === 'true'")
        self.go(phone, "[data-do=stop]")
        phone.wait("silence", "!document.querySelector('[data-action=lullaby].on')")
        self.strike(phone, "Escape", 27)
        self.seen("lullaby")
        width = phone.evaluate("document.querySelector('video').videoWidth")
        self.go(phone, "[data-action=camera]")
        phone.wait("the other camera", f"document.querySelector('video').videoWidth !== {width}")
        self.seen("camera")
        self.go(phone, "[data-action=shot]")
        phone.wait("the still", "(i => i?.complete && i.naturalWidth > 0)(document.querySelector('[data-sheet=shot] img'))")
        self.strike(phone, "Escape", 27)
        self.seen("still")
        self.tab_to(phone, ".talk")
        phone.key("rawKeyDown", **page_screens.SPACE)
        phone.wait("talking", "!!document.querySelector('.talk.on')")
        phone.key("keyUp", **page_screens.SPACE)
        phone.wait("the end of talking", "!document.querySelector('.talk.on')")
        self.go(phone, ".latch")
        phone.wait("talking without holding", "!!document.querySelector('.talk.on')")
        self.go(phone, ".latch")
        phone.wait("the end of talking", "!document.querySelector('.talk.on')")
        self.seen("talk")
        self.go(phone, ".hearing")
        phone.wait("muted", "!!document.querySelector('.hearing.not')")
        self.go(phone, ".hearing")
        phone.wait("hearing", "!!document.querySelector('.hearing:not(.not)')")
        self.seen("mute")
        self.go(phone, ".status")
        phone.wait("the details", "!!document.querySelector('[data-sheet=details]')")
        self.strike(phone, "Escape", 27)
        self.go(phone, ".top button:last-child")
        phone.wait("the settings", "!!document.querySelector('[data-screen=settings]')")
        self.go(phone, "[data-do=alarm]")
        phone.wait("the test alarm", "document.activeElement?.matches('dialog.alarm[open] .acknowledge')")
        self.strike(phone, "Enter", 13, text="\r")
        phone.wait("the alarm acknowledged", "!document.querySelector('dialog.alarm[open]')")
        self.expect_no_errors(phone)
        self.seen("alarm")
        phone.close()

    def strike(self, phone: Phone, key: str, number: int, text: str = "") -> None:
        extra = {"text": text} if text else {}
        phone.key("keyDown" if text else "rawKeyDown", key=key, code=key, windowsVirtualKeyCode=number, **extra)
        phone.key("keyUp", key=key, code=key, windowsVirtualKeyCode=number)

    def tab_to(self, phone: Phone, selector: str) -> None:
        quoted = json.dumps(selector)
        phone.wait(selector, f"!!document.querySelector({quoted})")
        for _ in range(80):
            if phone.evaluate(f"document.activeElement?.matches({quoted})"):
                return
            self.strike(phone, "Tab", 9)
        raise browsers.BrowserError(f"Tab does not reach {selector}")

    def go(self, phone: Phone, selector: str) -> None:
        self.tab_to(phone, selector)
        self.strike(phone, "Enter", 13, text="\r")

    def large(self) -> None:
        """Text of twice the size on the narrowest screen."""
        phone = self.prepared(FROM_THE_BEGINNING % 'document.documentElement.style.fontSize = "200%";')
        self.tour(phone, "getComputedStyle(document.documentElement).fontSize === '32px'")
        phone.close()

    def mirrored(self) -> None:
        """From right to left, as in a language that nobody has translated it to yet, on the narrowest screen."""
        phone = self.prepared(FROM_THE_BEGINNING % 'document.documentElement.dir = "rtl";')
        self.tour(phone, "getComputedStyle(document.querySelector('#app > section')).direction === 'rtl'")
        phone.close()

    def tour(self, phone: Phone, condition: str) -> None:
        """All screens on 320x568; none scrolls sideways.

        condition: what must hold on each of them.
        """
        phone.resize(320, 568)
        phone.enter(self.url)
        self.fits(phone, "opening", condition)
        self.join(phone)
        self.fits(phone, "watch", condition)
        for opener, sheet in (("[data-action=light]", "light"), ("[data-action=lullaby]", "lullaby"), ("[data-action=shot]", "shot"), (".status", "details")):
            phone.tap(opener)
            phone.wait(sheet, f"!!document.querySelector('[data-sheet={sheet}]')")
            self.fits(phone, sheet, condition)
            phone.tap("dialog header button")
            phone.wait("the sheet closed", "!document.querySelector('dialog.sheet')")
        phone.tap(".top button:last-child")
        phone.wait("settings", "!!document.querySelector('[data-screen=settings]')")
        self.fits(phone, "settings", condition)
        phone.tap("[data-do=alarm]")
        phone.wait("the test alarm", "!!document.querySelector('dialog.alarm[open]')")
        self.fits(phone, "alarm", condition)

    def fits(self, phone: Phone, name: str, condition: str) -> None:
        if not phone.evaluate(condition):
            raise browsers.BrowserError(f"{name}: not so: {condition}")
        if folder := os.environ.get("CRADLE_SCREENSHOTS"):
            page_screens.screenshot(phone, f"{folder}/{name}.png")
        wide = phone.evaluate(
            "[document.documentElement, ...document.querySelectorAll('dialog[open]')].map(e => [e.scrollWidth, e.clientWidth])"
            ".filter(([whole, seen]) => whole > seen + 1)"
        )
        if wide:
            raise browsers.BrowserError(f"{name} scrolls sideways: {wide}")
        outside = phone.evaluate(STICKING_OUT)
        if outside:
            raise browsers.BrowserError(f"{name}: cut off at the side: {outside}")
        self.seen(name)

    def renderer(self, phone: Phone) -> int:
        """The process of the page: of the browser's renderers the one that has worked most."""
        found: dict[int, float] = {}
        for entry in pathlib.Path("/proc").iterdir():
            try:
                command = (entry / "cmdline").read_bytes()
                if b"--type=renderer" in command and b"--top-chrome-webui" not in command and os.getsid(int(entry.name)) == phone.process.pid:
                    found[int(entry.name)] = cpu_seconds(int(entry.name))
            except (OSError, ValueError):
                continue  # no process, or one that ended just now
        return max(found, key=lambda pid: found[pid])


if __name__ == "__main__":
    raise SystemExit(page_screens.main(Edges, (
        "storage", "microphone", "tabs", "newer", "hostile", "asleep", "untrusted", "elsewhere", "loud", "steady", "keyboard", "large", "mirrored", "proofs", "late",
    )))  # fmt: skip
