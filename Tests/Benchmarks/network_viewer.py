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
from pathlib import Path
from typing import Any

PEERS = Path(__file__).resolve().parent.parent / "Interop" / "peers"
sys.path.insert(0, str(PEERS))
import browsers  # noqa: E402
import common  # noqa: E402
import viewer_chromium  # noqa: E402
import websockets.exceptions  # noqa: E402

SAMPLE_MS = 500


def watch(browser: viewer_chromium.Chromium, options: Any) -> dict[str, Any]:
    browser.open(urllib.parse.urljoin(options.url, "/healthz"))
    browser.evaluate((PEERS / "watch.js").read_text() + "\n;true")
    wanted = browsers.page_options(options) | {"sampleMs": SAMPLE_MS, "soundSeconds": 0}
    browser.evaluate(f"globalThis.cradleRecord = cradleWatch.watch({json.dumps(wanted)}); cradleWatch.flows()")
    print(json.dumps({"event": "flows"}), flush=True)
    record = json.loads(browser.evaluate("cradleRecord"))
    browser.evaluate("cradleWatch.leave()")
    return {name: record.get(name) for name in ("error", "connected", "pictures", "samples", "codec", "timeToFirstFrameMs", "statistics")}


def main() -> int:
    options = common.argument_parser("chromium").parse_args()
    browser = None
    result = common.empty_result("chromium") | {"pictures": [], "samples": []}
    common.last_deadline(result, options.duration + common.GRACE_SECONDS + browsers.START_SECONDS)
    try:
        browser = viewer_chromium.Chromium(options)
        result = watch(browser, options)
    except (browsers.BrowserError, OSError, ValueError, websockets.exceptions.WebSocketException) as error:
        result["error"] = f"{type(error).__name__}: {error}"
        if browser is not None:
            common.log(browser.log_tail())
    print(json.dumps(result), flush=True)
    if browser is not None:
        browser.close()
    return 0 if result["error"] is None else 1


if __name__ == "__main__":
    sys.exit(main())
