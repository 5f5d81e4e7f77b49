"""A browser that goes past the warning about a certificate, before and after a restart of the baby unit.

Prints {steps, error} as page_screens.py does.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from types import SimpleNamespace

from cradle import processes
from cradle.browsers import BrowserError
from cradle.child import Child
from cradle.chromium import Chromium

CONFIGURATION = "name: Nursery\ncameras:\n  - {id: cot, device: test, width: 320, height: 240, framerate: 15}\nmicrophone: {device: test}\n"
#: What an open page still gets: an answer, and the connection on which it pairs and watches.
ASKED = """
(async () => {
  const answer = await fetch('/healthz', {cache: 'no-store'}).then((response) => response.status, String);
  const socket = await new Promise((done) => {
    const socket = new WebSocket(`wss://${location.host}/signal`);
    socket.onopen = () => done('open');
    socket.onerror = () => done('refused');
  });
  return `${answer} ${socket}`;
})()
"""


class WarnedChromium(Chromium):
    def proceed(self, url: str) -> None:
        """What the button of its warning does."""
        try:
            self.open(url)
            raise BrowserError("no warning")
        except BrowserError as error:
            if "ERR_CERT_AUTHORITY_INVALID" not in str(error):
                raise
        # It takes keys once it is there.
        for _ in range(100):
            time.sleep(0.1)
            title = self.title()
            if "Cradle" in title:
                return
            if title != "Privacy error":
                continue
            for letter in "thisisunsafe":
                self.remote.command("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter)
                self.remote.command("Input.dispatchKeyEvent", type="keyUp", key=letter)
        raise BrowserError(f"the warning stays: {self.title()}")

    def title(self) -> str:
        try:
            return str(self.evaluate("document.title"))
        except BrowserError:
            # Between two pages.
            return ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, help="cradle-child")
    options = parser.parse_args()
    steps: list[str] = []
    error = None
    with Child(options.program, CONFIGURATION) as child:
        browser = WarnedChromium(SimpleNamespace(url=child.origin, insecure=False))
        try:
            browser.proceed(child.origin)
            steps.append(browser.evaluate(ASKED))
            child.end()
            child.start()
            steps.append(browser.evaluate(ASKED))
            browser.open(child.origin)
            steps.append("Cradle" if "Cradle" in browser.title() else browser.title())
        except BrowserError as problem:
            error = str(problem)
        finally:
            browser.close()
    processes.end_processes()
    print(json.dumps({"steps": steps, "error": error}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
