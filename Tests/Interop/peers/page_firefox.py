"""The phone page in Firefox: pairs by link, and does the main things. Output as that of page_screens.py.

WebDriver BiDi gives fingers to the page in the same way as WebDriver does; a tap here is a touch of its action source.
"""

from __future__ import annotations

import json
import time
import types
from typing import Any

from cradle import browsers, processes
import page_screens
from cradle.phone import CHANGED, PATIENCE, SAMPLE
from cradle.firefox import Firefox


class Fox(Firefox):
    """A Firefox window of a desktop's size, driven by touch."""

    def __init__(self, url: str):
        super().__init__(types.SimpleNamespace(url=url, insecure=True))

    def wait(self, what: str, expression: str, seconds: float = PATIENCE) -> Any:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = json.loads(self.evaluate(f"JSON.stringify(({expression}) ?? null)"))
            if value:
                return value
            time.sleep(0.1)
        text = self.evaluate("document.body.innerText")
        raise browsers.BrowserError(f"not seen: {what}; the page says: {str(text)[:600]!r}")

    def tap(self, selector: str) -> None:
        quoted = json.dumps(selector)
        self.wait(selector, f"!!document.querySelector({quoted})")
        spot = json.loads(self.evaluate(
            f"(() => {{ const e = document.querySelector({quoted}); e.scrollIntoView({{ block: 'nearest' }});"
            " const b = e.getBoundingClientRect(); return JSON.stringify([b.x + b.width / 2, b.y + b.height / 2].map(Math.round)); })()"
        ))
        self.remote.command("input.performActions", context=self.context, actions=[{
            "type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": [
                {"type": "pointerMove", "x": spot[0], "y": spot[1]},
                {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0},
            ],
        }])  # fmt: skip


class Foxes(page_screens.Household):
    def firefox(self) -> None:
        fox = Fox(self.url)
        window, secret = self.open_window()
        fox.open(self.url + secret)
        fox.wait("the question for its name", "!!document.querySelector('[data-screen=name] button')")
        fox.evaluate("document.querySelector('[data-screen=name] button').click()")
        words = fox.wait("four words", "[...document.querySelectorAll('.words li')].map(e => e.textContent)")
        assert window.stdout is not None
        paired = json.loads(window.stdout.readline())["paired"]
        if paired["words"].split() != words:
            raise browsers.BrowserError(f"the page shows {words}, the child {paired['words']}")
        self.seen("words")
        fox.tap("[data-screen=words] .main")
        fox.evaluate(SAMPLE)
        fox.wait("a picture that changes", CHANGED)
        fox.wait("live", "!!document.querySelector('.status .state.live')")
        self.seen("picture")
        fox.wait("hearing", "!!document.querySelector('.hearing:not(.not)')")
        self.seen("hearing")
        fox.tap("[data-action=light]")
        fox.tap("[data-sheet=light] .main")
        fox.wait("the light on", "!!document.querySelector('[data-sheet=light] .main.on')")
        fox.tap("dialog header button")
        self.seen("light")
        fox.tap("[data-action=lullaby]")
        fox.tap("[data-track=heartbeat]")
        fox.wait("the track played", "document.querySelector('[data-track=heartbeat]').ariaPressed === 'true'")
        fox.tap("[data-do=stop]")
        fox.wait("silence", "!document.querySelector('[data-action=lullaby].on')")
        fox.tap("dialog header button")
        self.seen("lullaby")
        fox.tap("[data-action=shot]")
        fox.wait("the still", "(i => i?.complete && i.naturalWidth > 0)(document.querySelector('[data-sheet=shot] img'))")
        self.seen("still")
        # By then one whose arrival is not noticed would be fetched again.
        fox.wait("style sheets that were fetched once", "performance.now() > 7000 && !document.querySelector('#incomplete, link[href*=again]')")
        fox.close()
        processes.end_process(window)


if __name__ == "__main__":
    raise SystemExit(page_screens.main(Foxes, ("firefox",)))
