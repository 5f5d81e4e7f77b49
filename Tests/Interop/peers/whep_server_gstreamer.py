#!/usr/bin/python3
"""A WHEP server on GStreamer's webrtcbin with the command line of whep_server_aiortc.py, to try viewers against.

The server itself is the benchmarks' (webrtcbin_server.py): the test picture with its timecode, encoded once for all
viewers, and the control channel. Here its tone beeps at each full second. Needs what that one needs.
"""

from __future__ import annotations

import argparse
import threading
import time
from typing import Any

import webrtcbin_server
from webrtcbin_server import GLib, Gst
from cradle.whep_http import Started, WhepServer

#: The benchmark's settings of encoder and source that are no options here.
FIXED = {
    "live": None,
    "draw_only": False,
    "cpu_used": -8,
    "threads": 1,
    "error_resilient": "0",
    "static_threshold": 1,
    "min_quantizer": 4,
    "max_quantizer": 63,
    "token_partitions": 0,
}


class Server(webrtcbin_server.Server):
    def start(self, offer: str) -> Started:
        started = super().start(offer)
        # webrtcbin holds back who leaves before being connected; that must not hold back the answer to DELETE.
        return Started(started.answer, lambda: threading.Thread(target=started.end, daemon=True).start())


def tone_source(pipeline: Any) -> Any:
    for element in pipeline.children:
        if element.get_factory().get_name() == "audiotestsrc":
            return element
    raise RuntimeError("the pipeline has no tone")


def beep(tone: Any) -> None:
    """2 kHz instead of 1 kHz in the first 100 ms of each second of the wall clock, as near as a thread can."""
    while True:
        time.sleep(1 - time.time() % 1)
        tone.set_property("freq", 2000)
        time.sleep(max(0.0, 0.1 - time.time() % 1))
        tone.set_property("freq", 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8557, help="0: any; printed on the first line")
    parser.add_argument("--tls", action="store_true", help="HTTPS with a self-signed certificate")
    parser.add_argument("--token", default="")
    parser.add_argument("--y4m", help="pictures to loop; none: some made here")
    parser.add_argument("--bitrate", type=int, default=2500, help="kbit/s")
    parser.set_defaults(**FIXED)
    options = parser.parse_args()
    Gst.init(None)
    server = Server(options)
    threading.Thread(target=beep, args=(tone_source(server.pipeline),), daemon=True).start()
    http = WhepServer(options.listen, options.port, server.start, server.stats, options.token)
    if options.tls:
        http.use_tls()
    http.run_in_background()
    print(f"listening on {http.server_address[1]}", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
