"""Chromium (Debian: chromium) without a window, driven over the DevTools protocol."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from typing import Any

from . import browsers
from .browsers import BrowserError


class Chromium(browsers.Browser):
    port_file = "DevToolsActivePort"

    def __init__(self, options: Any):
        super().__init__("chromium", options)
        port = self.start(["chromium", *self.switches(), "about:blank"]).split()[0]
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://127.0.0.1:{port}/json/list", timeout=browsers.START_SECONDS) as response:
            targets = json.load(response)
        page = next((target for target in targets if target["type"] == "page"), None)
        if page is None:
            raise BrowserError("chromium opened no page")
        self.remote = browsers.Remote(page["webSocketDebuggerUrl"])
        self.remote.command("Page.enable")

    def switches(self) -> list[str]:
        host = urllib.parse.urlsplit(self.options.url).hostname or ""
        host = f"[{host}]" if ":" in host else host
        switches = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--no-first-run",
            "--no-default-browser-check",
            "--password-store=basic",
            f"--user-data-dir={self.profile}",
            "--remote-debugging-port=0",
            # Speaks to the server and to nobody else.
            "--no-proxy-server",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-default-apps",
            "--disable-domain-reliability",
            "--disable-extensions",
            "--disable-sync",
            "--metrics-recording-only",
            # The rules have no way to name an IPv6 literal, which needs no resolver either.
            *([] if ":" in host else [f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.local, EXCLUDE {host}"]),
            # Watches as if somebody looked.
            "--autoplay-policy=no-user-gesture-required",
            "--disable-background-timer-throttling",
            "--disable-backgrounding-occluded-windows",
            "--disable-renderer-backgrounding",
            "--allow-loopback-in-peer-connection",
        ]
        return switches + (["--ignore-certificate-errors"] if self.options.insecure else [])

    def is_whole(self, text: str) -> bool:
        return len(text.split()) == 2

    def open(self, url: str) -> None:
        problem = self.remote.command("Page.navigate", url=url).get("errorText")
        if problem:
            raise BrowserError(f"{url}: {problem}")
        self.evaluate("new Promise(d => document.readyState === 'complete' ? d(1) : addEventListener('load', () => d(1)))")

    def evaluate(self, expression: str) -> Any:
        reply = self.remote.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True
        )
        if "exceptionDetails" in reply:
            details = reply["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details.get("text"))
        return reply["result"].get("value")
