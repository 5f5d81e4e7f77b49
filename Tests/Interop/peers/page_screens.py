"""The phone page as a person uses it: Chromium with fingers, mouse and keys, a real child, a made-up microphone.

Each scenario prints one JSON object: {"steps": [names of what was seen, in order], "error": null or what was not seen}.
Needs websockets and, for `accessible`, axe-core-python (PyPI).
"""

from __future__ import annotations

import argparse
import base64
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import time
from typing import Any

from cradle import browsers, processes
from cradle.child import RunningChild
from cradle.phone import PATIENCE, Phone, open_window

STANDARDS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
#: The tables in the page's folder, English first: the others are compared with it.
TABLES = (pathlib.Path(__file__).parents[3] / "Sources/Web/Pages/texts").glob("??.js")
LANGUAGES = sorted((table.stem for table in TABLES), key=lambda name: (name != "en", name))
SPACE = {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32}


class Household:
    def __init__(self, options: Any, steps: list[str]):
        self.child = RunningChild(options.program, "--runtime-directory", options.runtime_directory)
        self.url = f"https://127.0.0.1:{options.port}/"
        self.options = options
        self.seen = steps.append

    def open_window(self) -> tuple[subprocess.Popen[bytes], str]:
        """Opens the pairing window; the second value is the link's secret part."""
        return open_window(self.child.command("pair", "--json"))

    def phone(self, **size: int) -> Phone:
        return Phone(self.url, **size)

    def pair(self, phone: Phone) -> None:
        window, secret = self.open_window()
        phone.enter(self.url + secret)
        words = phone.wait("four words", "[...document.querySelectorAll('.words li')].map(e => e.textContent)")
        assert window.stdout is not None
        paired = json.loads(window.stdout.readline())["paired"]
        if paired["words"].split() != words:
            raise browsers.BrowserError(f"the page shows {words}, the child {paired['words']}")
        if phone.evaluate("location.href").find("#") >= 0:
            raise browsers.BrowserError("the secret stays in the address bar")
        self.seen("words")
        phone.tap("[data-screen=words] .main")
        phone.picture_changes()
        phone.wait("live", "!!document.querySelector('.status .state.live')")
        phone.wait("hearing", "!!document.querySelector('.hearing:not(.not)')")
        self.seen("picture")

    def spoken(self, minimum: int = 400) -> bool:
        data = pathlib.Path(self.options.speaker).read_bytes()[44:]
        samples = memoryview(data[: len(data) // 2 * 2]).cast("h")
        return any(abs(sample) > minimum for sample in samples)

    def wait_spoken(self, how: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self.spoken():
            if time.monotonic() > deadline:
                raise browsers.BrowserError(f"nothing came out of the speaker: {how}")
            time.sleep(0.2)

    def day(self) -> None:
        """Everything that a parent does."""
        phone = self.phone()
        self.pair(phone)
        self.talk(phone)
        self.light(phone)
        self.lullaby(phone)
        self.camera(phone)
        self.keys(phone)
        os.kill(self.options.pid, signal.SIGTERM)
        phone.wait("the planned stop as a notice", "!!document.querySelector('.banner:not([hidden])')")
        # Longer than an unplanned silence may last.
        phone.evaluate("new Promise(done => setTimeout(done, 6000))")
        if kind := phone.evaluate("document.querySelector('dialog.alarm[open]')?.dataset.kind"):
            raise browsers.BrowserError(f"an alarm rings though the child said goodbye: {kind}")
        phone.wait("the old picture called so", "document.querySelector('.stage').classList.contains('old')")
        self.seen("planned stop")
        phone.close()

    def talk(self, phone: Phone) -> None:
        if self.spoken():
            raise browsers.BrowserError("the speaker was not silent before")
        spot = phone.place(".talk")
        phone.touch("touchStart", [spot])
        phone.wait("talking", "!!document.querySelector('.talk.on')")
        self.wait_spoken("held")
        phone.touch("touchEnd", [])
        phone.wait("the end of talking", "!document.querySelector('.talk.on')")
        phone.tap(".latch")
        phone.wait("talking without holding", "!!document.querySelector('.talk.on') && document.querySelector('.latch').ariaPressed === 'true'")
        phone.tap(".latch")
        phone.wait("the end of talking", "!document.querySelector('.talk.on')")
        self.seen("talk")

    def light(self, phone: Phone) -> None:
        phone.tap("[data-action=light]")
        phone.tap("[data-sheet=light] .main")
        phone.wait("the light on", "!!document.querySelector('[data-sheet=light] .main.on')")
        place = phone.place("[data-sheet=light] input[type=range]")
        phone.touch("touchStart", [place])
        phone.touch("touchEnd", [])
        phone.wait("half brightness", "(v => v > 40 && v < 60)(+document.querySelector('[data-sheet=light] input').value) && /[45]\\d%/.test(document.querySelector('.status').textContent)")
        phone.tap("[data-sheet=light] [data-minutes='5']")
        phone.wait("the timer", "/[45]:\\d\\d/.test(document.querySelector('[data-sheet=light] .big').textContent)")
        phone.tap("[data-sheet=light] .main")
        phone.wait("the light off", "!document.querySelector('[data-sheet=light] .main.on')")
        phone.tap("dialog header button")
        self.seen("light")

    def lullaby(self, phone: Phone) -> None:
        phone.tap("[data-action=lullaby]")
        phone.tap("[data-track=heartbeat]")
        phone.wait("the track played", "document.querySelector('[data-track=heartbeat]').ariaPressed === 'true'")
        phone.tap("[data-sheet=lullaby] [data-minutes='15']")
        phone.wait("what remains", "/1[45]:\\d\\d/.test(document.querySelector('[data-sheet=lullaby]').textContent)")
        volume = phone.place("[data-sheet=lullaby] input[type=range]")
        before = phone.evaluate("document.querySelector('[data-sheet=lullaby] output').textContent")
        phone.touch("touchStart", [{"x": volume["x"] - 80, "y": volume["y"]}])
        phone.touch("touchEnd", [])
        phone.wait("another volume", f"document.querySelector('[data-sheet=lullaby] output').textContent !== {json.dumps(before)}")
        phone.tap("[data-do=stop]")
        phone.wait("silence", "!document.querySelector('[data-action=lullaby].on')")
        phone.tap("dialog header button")
        self.seen("lullaby")

    def camera(self, phone: Phone) -> None:
        width = phone.evaluate("document.querySelector('video').videoWidth")
        phone.tap("[data-action=camera]")
        phone.wait("the other camera", f"document.querySelector('video').videoWidth !== {width}")
        self.seen("camera")
        phone.tap("[data-action=privacy]")
        phone.wait("no picture", "document.querySelector('video').hidden && document.querySelector('.stage').innerText.includes('Camera paused')")
        # Longer than an alarm waits.
        phone.evaluate("new Promise(done => setTimeout(done, 5000))")
        if kind := phone.evaluate("document.querySelector('dialog.alarm[open]')?.dataset.kind"):
            raise browsers.BrowserError(f"an alarm rings while the camera is paused: {kind}")
        phone.tap("[data-action=privacy]")
        phone.wait("the picture", "!document.querySelector('video').hidden && !document.querySelector('.stage').innerText.includes('Camera paused')")
        self.seen("privacy")
        phone.tap("[data-action=shot]")
        phone.wait("the still", "(i => i?.complete && i.naturalWidth > 0)(document.querySelector('[data-sheet=shot] img'))")
        self.seen("still")
        phone.tap("dialog header button")

    def keys(self, phone: Phone) -> None:
        phone.evaluate("document.activeElement.blur(), 0")
        phone.press("l")
        phone.wait("the light by key", "!!document.querySelector('[data-action=light].on')")
        phone.press("m")
        phone.wait("mute by key", "!!document.querySelector('.hearing.not')")
        phone.press("m")
        phone.wait("sound by key", "!!document.querySelector('.hearing:not(.not)')")
        phone.key("rawKeyDown", **SPACE)
        phone.wait("talking by key", "!!document.querySelector('.talk.on')")
        phone.key("keyUp", **SPACE)
        phone.wait("the end of talking by key", "!document.querySelector('.talk.on')")
        self.seen("keys")

    def lost(self) -> None:
        """The child dies without a word."""
        phone = self.phone()
        self.pair(phone)
        phone.evaluate(
            "new MutationObserver((_, o) => { const d = document.querySelector('dialog.alarm[open]');"
            " if (d) { globalThis.rang = Date.now() - d.dataset.since; o.disconnect(); } })"
            ".observe(document.body, { subtree: true, attributes: true }); 0"
        )
        os.kill(self.options.pid, signal.SIGKILL)
        phone.wait("the alarm", "!!document.querySelector('dialog.alarm[open]')")
        late = phone.wait("its time", "globalThis.rang")
        if late > 5000:
            raise browsers.BrowserError(f"the alarm came {late} ms after the last data")
        if phone.evaluate("!!document.querySelector('.state.live, .hearing:not(.not)')"):
            raise browsers.BrowserError("something is still called live")
        self.seen("alarm")
        phone.tap("dialog.alarm .acknowledge")
        phone.wait("the alarm acknowledged", "!document.querySelector('dialog.alarm[open]')")
        phone.wait("what is wrong", "!!document.querySelector('.banner:not([hidden])')")
        self.seen("acknowledged")
        phone.close()

    def refused(self) -> None:
        """Links that do not pair, rights that are missing, a pair that is removed."""
        phone = self.phone()
        window, secret = self.open_window()
        phone.enter(self.url + "#pair=no")
        phone.wait("a sentence about the wrong link", "document.querySelector('[role=alert]')?.textContent.includes('not a pairing link')")
        self.seen("wrong link")
        phone.enter(self.url + secret)
        phone.tap("[data-screen=words] .main")
        phone.wait("live", "!!document.querySelector('.state.live')")
        processes.end_process(window)
        other = self.phone()
        other.enter(self.url + secret)
        other.wait("a sentence about the used link", "document.querySelector('[role=alert]')?.textContent.includes('already used')")
        self.seen("used link")

        phone.tap(".top button:last-child")
        # The list pushes the button down when it comes.
        phone.wait("who is paired", "!!document.querySelector('[data-do=invite]')?.parentElement.querySelector('.list li')")
        phone.tap("[data-do=invite]")
        phone.tap("[data-sheet=invite] .main")
        link = phone.wait("the invitation", "document.querySelector('[data-sheet=link] input')?.value")
        phone.wait("its QR code", "!!document.querySelector('.qr path')")
        phone.tap("dialog header button")
        other.enter(self.url + link[link.index("#") :])
        other.tap("[data-screen=words] .main")
        other.wait("live", "!!document.querySelector('.state.live')")
        other.wait("no buttons that do nothing", "!['[data-do=light]', '[data-do=lullaby]', '[data-action=shot]', '.talk', '.latch'].some(one => document.querySelector(one).checkVisibility())")
        self.seen("missing right")
        other.close()

        self.child.output("unpair", "--all")
        phone.wait("that the pair ended", "!!document.querySelector('[data-refused=not-paired]')")
        phone.wait("no picture", "getComputedStyle(document.querySelector('.stage')).display === 'none'")
        self.seen("revoked")
        phone.close()

    def accessible(self) -> None:
        """axe-core on every screen, by day in both themes; nothing scrolls sideways. By night it stays dark."""
        spec = importlib.util.find_spec("axe_core_python")
        if spec is None or not spec.submodule_search_locations:
            raise browsers.BrowserError("axe-core-python is not installed")
        axe = pathlib.Path(spec.submodule_search_locations[0], "axe.min.js").read_text()
        phone = self.phone(width=320, height=568)
        night = phone.remote.command("Page.addScriptToEvaluateOnNewDocument", source="Date.prototype.getHours = () => 20")
        phone.prefer("light")
        phone.enter(self.url)
        if phone.evaluate("document.documentElement.hasAttribute('data-light')"):
            raise browsers.BrowserError("it shines at night")
        phone.remote.command("Page.removeScriptToEvaluateOnNewDocument", identifier=night["identifier"])
        phone.remote.command("Page.addScriptToEvaluateOnNewDocument", source="Date.prototype.getHours = () => 12")
        phone.enter(self.url)
        self.judge(phone, axe, "opening")
        self.pair(phone)
        for width, height in ((320, 568), (740, 360), (1280, 800)):
            phone.resize(width, height)
            self.judge(phone, axe, "watch")
            for opener, sheet in (("[data-action=light]", "light"), ("[data-action=lullaby]", "lullaby"), ("[data-action=shot]", "shot"), (".status", "details"), ("[data-do=volume]", "volume")):
                phone.tap(opener)
                phone.wait(sheet, f"!!document.querySelector('[data-sheet={sheet}]')")
                self.judge(phone, axe, sheet)
                phone.tap("dialog header button")
                phone.wait("the sheet closed", "!document.querySelector('dialog.sheet')")
            phone.tap("[data-action=night]")
            phone.wait("the last night", "!!document.querySelector('[data-sheet=night] svg.night')")
            self.judge(phone, axe, "night")
            phone.wait("its figures", "document.querySelectorAll('[data-sheet=night] dt').length >= 3")
            phone.tap("[data-sheet=night] header button")
            phone.tap("[data-action=proofs]")
            phone.wait("the proofs", "!!document.querySelector('[data-sheet=proofs] [data-do=drill]')")
            self.judge(phone, axe, "proofs")
            phone.tap("[data-do=drill]")
            phone.wait("the question", "!!document.querySelector('[data-sheet=confirm]')")
            self.judge(phone, axe, "drill")
            phone.tap("[data-sheet=confirm] header button")
            phone.tap("[data-sheet=proofs] header button")
            phone.tap("[data-action=recordings]")
            phone.wait("recordings", "!!document.querySelector('[data-sheet=recordings] [data-do=record]')")
            if width == 320:
                phone.tap("[data-do=record]")
                phone.wait("the sheet closed", "!document.querySelector('[data-sheet=recordings]')")
                time.sleep(3)
                phone.tap("[data-action=recordings]")
                phone.wait("that it records", "!!document.querySelector('[data-part]')")
                phone.tap("[data-do=record]")
                phone.wait("the sheet closed", "!document.querySelector('[data-sheet=recordings]')")
                phone.tap("[data-action=recordings]")
                phone.wait("the part", "!!document.querySelector('[data-part]')")
            # The newest may have just begun when it was stopped.
            phone.tap("[data-sheet=recordings] li:last-child [data-part]")
            phone.wait("it plays", "(v => !v.hidden && v.currentTime > 0.5 && v.videoWidth > 0)(document.querySelector('[data-sheet=recordings] video'))")
            self.judge(phone, axe, "recordings")
            phone.tap("[data-sheet=recordings] header button")
            phone.wait("the sheets closed", "!document.querySelector('dialog.sheet')")
            phone.tap(".top button:last-child")
            phone.wait("settings", "!!document.querySelector('[data-screen=settings]')")
            self.judge(phone, axe, "settings")
            phone.tap("[data-do=alarm]")
            phone.wait("the test alarm", "!!document.querySelector('dialog.alarm[open]')")
            self.judge(phone, axe, "alarm")
            phone.press("a")
            phone.wait("the alarm acknowledged by key", "!document.querySelector('dialog.alarm[open]')")
            phone.evaluate("history.back(), 0")
            phone.wait("the picture", "!document.querySelector('[data-screen]')")
        phone.close()

    def judge(self, phone: Phone, axe: str, name: str) -> None:
        phone.evaluate(axe + ";0")
        for scheme in ("light", "dark"):
            phone.prefer(scheme)
            phone.wait(scheme, f"document.documentElement.hasAttribute('data-light') === {json.dumps(scheme == 'light')}")
            found = json.loads(phone.evaluate(
                f"axe.run(document, {{ runOnly: {json.dumps(STANDARDS)} }}).then(r => JSON.stringify({{ passes: r.passes.length,"
                " violations: r.violations.map(v => [v.id, v.nodes.map(n => n.html)]) }))"
            ))
            if found["violations"] or not found["passes"]:
                raise browsers.BrowserError(f"{name}, {scheme}: {json.dumps(found)[:1500]}")
        if phone.evaluate("document.documentElement.scrollWidth > innerWidth"):
            raise browsers.BrowserError(f"{name} scrolls sideways")
        self.seen(name)

    def languages(self) -> None:
        """Every table has the same keys and placeholders."""
        phone = self.phone()
        phone.enter(self.url)
        tables = json.loads(phone.evaluate(
            "(async () => { const base = document.querySelector('script[src]').src.replace(/app.js$/, 'texts/');"
            " const { flat } = await import(base + 'texts.js');"
            " const { default: rooms } = await import(base + '../rooms/texts.js');"
            f" const tables = await Promise.all({json.dumps(LANGUAGES)}.map(async n => ({{ ...flat((await import(base + n + '.js')).default), ...flat(rooms[n]) }})));"
            " return JSON.stringify(tables); })()"
        ))
        for language, table in zip(LANGUAGES, tables):
            if table.keys() != tables[0].keys():
                raise browsers.BrowserError(f"{language}: other keys: {sorted(table.keys() ^ tables[0].keys())}")
            for key, text in table.items():
                if placeholders(text) != placeholders(tables[0][key]) or not text:
                    raise browsers.BrowserError(f"{language}: {key}: other placeholders: {text}")
            self.seen(language)
        phone.close()


def placeholders(text: Any) -> set[str]:
    forms = text.values() if isinstance(text, dict) else [text]
    return {part.split("}")[0] for form in forms for part in form.split("{")[1:]}


def screenshot(phone: Phone, path: str) -> None:
    """For people who look at it."""
    pathlib.Path(path).write_bytes(base64.b64decode(phone.remote.command("Page.captureScreenshot")["data"]))


def main(household: type[Household], scenarios: tuple[str, ...]) -> int:
    parser = argparse.ArgumentParser(description="The phone page as a person uses it.")
    parser.add_argument("scenario", choices=scenarios)
    parser.add_argument("--program", required=True, help="cradle-child")
    parser.add_argument("--runtime-directory", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pid", type=int, required=True, help="of the running child")
    parser.add_argument("--speaker", required=True, help="the WAV file that its speaker writes")
    options = parser.parse_args()
    steps: list[str] = []
    error = None
    try:
        getattr(household(options, steps), options.scenario)()
    except Exception as problem:  # Whatever it is, the steps until then are told.
        error = f"{type(problem).__name__}: {problem}"
    print(json.dumps({"steps": steps, "error": error}), flush=True)
    return 0 if error is None else 1


if __name__ == "__main__":
    raise SystemExit(main(Household, ("day", "lost", "refused", "accessible", "languages")))
