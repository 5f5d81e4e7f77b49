"""The phone page in Chromium, with fingers, mouse and keys. Needs websockets (PyPI)."""

from __future__ import annotations

import json
import subprocess
import time
import types
from typing import Any

from . import browsers, processes
from .chromium import Chromium

#: Seconds that anything may take on a busy machine.
PATIENCE = 60

#: Looks at the picture as it is shown, small; and whether it has changed since it was looked at first.
SAMPLE = """globalThis.sample = () => {
  const video = document.querySelector("video"), canvas = document.createElement("canvas");
  Object.assign(canvas, { width: 64, height: 36 });
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0, 64, 36);
  return video.videoWidth ? Array.from(context.getImageData(0, 0, 64, 36).data).join() : "";
}; globalThis.first = ""; 0"""
CHANGED = '(() => { const now = sample(); first ||= now; return Boolean(now) && now !== first; })()'


#: Takes the name that the page proposes before the first pairing.
ACCEPT_NAME = "document.querySelector('[data-screen=name] button')?.click(), 0"

#: What scripts threw, where a test has the page keep it.
ERRORS = "globalThis.errors ?? []"


class Phone(Chromium):
    """A Chromium that is driven by touch; width and height in CSS pixels."""

    #: Overlooks that the certificate is not trusted.
    insecure = True

    def __init__(self, url: str, width: int = 360, height: int = 740):
        super().__init__(types.SimpleNamespace(url=url, insecure=self.insecure))
        self.resize(width, height)
        # As at night: the page of the day is light where the browser does not want it dark.
        self.prefer("dark")

    def switches(self) -> list[str]:
        return super().switches() + ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--lang=en"]

    def resize(self, width: int, height: int) -> None:
        self.remote.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 1000
        )
        self.remote.command("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)

    def prefer(self, scheme: str) -> None:
        """Which theme the system has: dark or light."""
        self.remote.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def wait(self, what: str, expression: str, seconds: float = PATIENCE) -> Any:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                value = self.evaluate(expression)
            except browsers.BrowserError as error:
                # The page loads again while it is asked.
                if "navigated or closed" not in str(error):
                    raise
                value = None
            if value:
                return value
            time.sleep(0.1)
        text = self.evaluate("document.body.innerText")
        raise browsers.BrowserError(f"not seen: {what}; the page says: {text[:600]!r}; {self.evaluate(ERRORS)}")

    def enter(self, url: str) -> None:
        """Opens the page, from elsewhere, until one of its screens shows; a question for the phone's name is answered."""
        self.open("about:blank")
        self.open(url)
        self.wait("a screen", "!!document.querySelector('#app > section')")
        self.evaluate(ACCEPT_NAME)

    def place(self, selector: str) -> dict[str, float]:
        """The middle of an element, in sight and not below the small picture in the corner."""
        quoted = json.dumps(selector)
        self.wait(selector, f"!!document.querySelector({quoted})")
        # On another page of the settings, or faded from the picture: a person goes there, or touches the picture, first.
        self.evaluate(
            f"(e => {{ const page = e.closest('[data-page]'); if (page?.hidden) document.querySelector(`[data-tab=${{page.dataset.page}}]`).click();"
            f" document.querySelector('.calm')?.dispatchEvent(new PointerEvent('pointermove', {{ bubbles: true }})); return 0; }})(document.querySelector({quoted}))"
        )
        spot: Any = None
        # What comes from the child moves what stands below it; a finger aims at what stands still.
        for _ in range(20):
            before = spot
            spot = self.evaluate(
                f"(() => {{ const e = document.querySelector({quoted}); e.scrollIntoView({{ block: 'center' }});"
                " const b = e.getBoundingClientRect(); return { x: b.x + b.width / 2, y: b.y + b.height / 2 }; })()"
            )
            if spot == before:
                break
            time.sleep(0.05)
        return dict(spot)

    def touch(self, kind: str, points: list[dict[str, float]]) -> None:
        self.remote.command("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    def tap(self, selector: str) -> None:
        spot = self.place(selector)
        self.touch("touchStart", [spot])
        self.touch("touchEnd", [])

    def key(self, kind: str, **key: Any) -> None:
        self.remote.command("Input.dispatchKeyEvent", type=kind, **key)

    def press(self, letter: str) -> None:
        code = f"Key{letter.upper()}" if letter.isalpha() else ""
        self.key("keyDown", key=letter, text=letter, code=code)
        self.key("keyUp", key=letter, code=code)

    def picture_changes(self) -> None:
        self.evaluate(SAMPLE)
        self.wait("a picture that changes", CHANGED)


def open_window(command: list[str]) -> tuple[subprocess.Popen[bytes], str]:
    """Opens the pairing window by the child's command; the second value is the link's secret part."""
    window = processes.start_process(command, stdout=subprocess.PIPE)
    assert window.stdout is not None
    link = json.loads(window.stdout.readline())["link"]
    return window, link[link.index("#") :]
