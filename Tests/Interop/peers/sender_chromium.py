"""A WHEP server whose media half is Chromium (Debian: chromium): a canvas with the timecode, and an oscillator's tone.

To try viewers against a browser's sending side: its SDP, its pacing, its probing, its reports. The HTTP half is here;
offers and answers go to the page over the DevTools protocol. Needs websockets (PyPI: websockets).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import signal
import sys
import threading
from typing import Any

from cradle import chromium, processes
from cradle.process_usage import usage
from cradle.whep_http import Started, WhepServer


class SendingChromium(chromium.Chromium):
    def switches(self) -> list[str]:
        # Without a microphone's permission Chromium names its addresses by mDNS, which not every viewer resolves.
        return [*super().switches(), "--disable-features=WebRtcHideLocalIpsWithMdns"]


class Sender:
    """The page; one command at a time."""

    def __init__(self, options: Any):
        self.lock = threading.Lock()
        self.browser = SendingChromium(options)
        script = pathlib.Path(__file__).with_name("send.js").read_text()
        self.browser.evaluate(script + "\n;true")
        width, height = (int(side) for side in options.size.split("x"))
        page = {"width": width, "height": height, "framesPerSecond": 30, "kbps": options.bitrate, "degradation": options.degradation}
        self.browser.evaluate(f"cradleSend.start({json.dumps(page)})")

    def call(self, expression: str) -> Any:
        with self.lock:
            return self.browser.evaluate(expression)

    def start(self, offer: str) -> Started:
        answer = self.call(f"cradleSend.answer({json.dumps(offer)})")
        return Started(answer["sdp"], lambda: self.call(f"cradleSend.end({json.dumps(answer['name'])})"))

    def stats(self) -> dict[str, Any]:
        return usage() | {"viewers": self.call("cradleSend.count()")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8558, help="0: any; printed on the first line")
    parser.add_argument("--tls", action="store_true", help="HTTPS with a self-signed certificate")
    parser.add_argument("--token", default="")
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--bitrate", type=int, default=2500, help="kbit/s")
    parser.add_argument(
        "--degradation", default="maintain-resolution", help="what gives way to a low rate (webrtc: degradationPreference)"
    )
    # The page loads nothing, so the browser needs no host.
    parser.set_defaults(url="http://127.0.0.1", insecure=False)
    options = parser.parse_args()
    # The browser has to go with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        sender = Sender(options)
        server = WhepServer(options.listen, options.port, sender.start, sender.stats, options.token)
        if options.tls:
            server.use_tls()
        server.run_in_background()
        print(f"listening on {server.server_address[1]}", flush=True)
        status = sender.browser.process.wait()
        processes.log(f"chromium ended with status {status}: {sender.browser.log_tail()}")
        return 1
    except KeyboardInterrupt:
        return 0
    finally:
        processes.end_processes()


if __name__ == "__main__":
    sys.exit(main())
