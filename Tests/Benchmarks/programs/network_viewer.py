#!/usr/bin/env python3
"""Chromium as the viewer in network_bench.py: what came, picture by picture and second by second.

Prints a line of JSON when the first picture has come, so that the network can become bad then, and one at the end:
`pictures`, each with the wall clock, its timecode and its size, and `samples`, the browser's own counters.
Needs websockets (PyPI: websockets).
"""

from __future__ import annotations

import json
import sys
import urllib.parse
from typing import Any

from cradle import browsers, chromium, processes, viewing
import websockets.exceptions


SAMPLE_MS = 500


def watch(browser: chromium.Chromium, options: Any) -> dict[str, Any]:
    browser.open(urllib.parse.urljoin(options.url, "/healthz"))
    browser.evaluate(browsers.WATCH_SCRIPT.read_text() + "\n;true")
    wanted = browsers.page_options(options) | {"sampleMs": SAMPLE_MS, "soundSeconds": 0}
    browser.evaluate(f"globalThis.cradleRecord = cradleWatch.watch({json.dumps(wanted)}); cradleWatch.flows()")
    print(json.dumps({"event": "flows"}), flush=True)
    record = json.loads(browser.evaluate("cradleRecord"))
    browser.evaluate("cradleWatch.leave()")
    return {name: record.get(name) for name in ("error", "connected", "pictures", "samples", "codec", "timeToFirstFrameMs", "statistics")}


def main() -> int:
    options = viewing.argument_parser("chromium").parse_args()
    browser = None
    result = viewing.empty_result("chromium") | {"pictures": [], "samples": []}
    viewing.last_deadline(result, options.duration + viewing.GRACE_SECONDS + browsers.START_SECONDS)
    try:
        browser = chromium.Chromium(options)
        result = watch(browser, options)
    except (browsers.BrowserError, OSError, ValueError, websockets.exceptions.WebSocketException) as error:
        result["error"] = f"{type(error).__name__}: {error}"
        if browser is not None:
            processes.log(browser.log_tail())
    print(json.dumps(result), flush=True)
    if browser is not None:
        browser.close()
    return 0 if result["error"] is None else 1


if __name__ == "__main__":
    sys.exit(main())
