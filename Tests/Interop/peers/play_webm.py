"""Plays a recording in a browser without a window and prints what came of it as one JSON object.

The file is served over HTTP with byte ranges, as a web server does it; the page plays it, seeks and listens.

Needs websockets (PyPI: websockets).
"""

from __future__ import annotations

import argparse
import http.server
import json
import os
import pathlib
import re
import sys
import threading
from typing import Any

from cradle import browsers, processes
from cradle.chromium import Chromium
from cradle.firefox import Firefox

BROWSERS = {"chromium": Chromium, "firefox": Firefox}

PAGE = b"<!doctype html><meta charset=utf-8><title>play</title><video id=v playsinline></video>"

# Every step has a deadline: a player that is stuck is a result as well.
SCRIPT = """
(async () => {
  const options = %s;
  const video = document.getElementById("v");
  const result = {error: null};
  const within = (seconds, name, start) => new Promise((done) => {
    const timer = setTimeout(() => { result.error ??= `${name} took more than ${seconds} s`; done(false); }, seconds * 1000);
    const finish = () => { clearTimeout(timer); done(true); };
    start(finish);
  });
  const once = (seconds, event, begin) => within(seconds, event, (finish) => {
    video.addEventListener(event, finish, {once: true});
    begin();
  });
  const frames = () => video.getVideoPlaybackQuality().totalVideoFrames;
  const seekable = () => video.seekable.length ? video.seekable.end(video.seekable.length - 1) : 0;
  video.addEventListener("error", () => { result.error ??= `media error ${video.error.code}: ${video.error.message}`; });

  await once(10, "loadedmetadata", () => { video.src = "/recording.webm"; });
  result.duration = Number.isFinite(video.duration) ? video.duration : null;
  [result.width, result.height] = [video.videoWidth, video.videoHeight];
  result.seekable = seekable();

  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaElementSource(video).connect(analyser);
  analyser.connect(context.destination);
  await context.resume();
  let peak = 0;
  const samples = new Float32Array(analyser.fftSize);
  const listening = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  }, 20);
  const play = (seconds) => within(seconds + 10, "playing", async (finish) => {
    const end = video.currentTime + seconds;
    const look = () => {
      if (video.currentTime >= end || video.ended || video.error) finish();
      else setTimeout(look, 10);
    };
    try { await video.play(); } catch (error) { result.error ??= String(error); }
    look();
  });

  await play(options.seconds);
  video.pause();
  result.framesDecoded = frames();
  result.currentTime = video.currentTime;
  result.audioPeak = peak;
  result.audioDecoded = peak > 0.001;

  if (options.seek !== null) {
    const before = frames();
    result.seeked = await once(10, "seeked", () => { video.currentTime = options.seek; });
    result.timeAfterSeek = video.currentTime;
    peak = 0;
    await play(options.seconds);
    result.framesAfterSeek = frames() - before;
    result.timeAtEnd = video.currentTime;
    result.audioAfterSeek = peak > 0.001;
    result.ended = video.ended;
  }
  clearInterval(listening);
  result.durationAtEnd = Number.isFinite(video.duration) ? video.duration : null;
  return JSON.stringify(result);
})()
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """The page, and one file with byte ranges (RFC 9110 section 14)."""

    protocol_version = "HTTP/1.1"
    path_of_file = ""

    def do_GET(self) -> None:
        if self.path != "/recording.webm":
            found = self.path == "/"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(PAGE) if found else 0))
            self.end_headers()
            if found:
                self.wfile.write(PAGE)
            return
        # Looked up each time, because a recording may be growing.
        size = os.path.getsize(self.path_of_file)
        first, last = 0, size - 1
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked:
            first = int(asked[1])
            last = min(last, int(asked[2])) if asked[2] else last
            if first > last:
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{size}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        self.send_response(206 if asked else 200)
        self.send_header("Content-Type", "video/webm")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(last - first + 1))
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.end_headers()
        with open(self.path_of_file, "rb") as file:
            file.seek(first)
            left = last - first + 1
            try:
                while left > 0 and (part := file.read(min(left, 65536))):
                    self.wfile.write(part)
                    left -= len(part)
            except (BrokenPipeError, ConnectionResetError):
                # A player that seeks hangs up on the rest.
                self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


def serve(path: str) -> str:
    handler = type("FileHandler", (Handler,), {"path_of_file": path})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"


def main() -> int:
    parser = argparse.ArgumentParser(prog="play_webm.py", description=__doc__.splitlines()[0])
    parser.add_argument("browser", choices=sorted(BROWSERS))
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=2.0, help="to play from the beginning, and again after the seek")
    parser.add_argument("--seek", type=float, help="seconds from the beginning")
    options = parser.parse_args()
    if not options.file.is_file():
        parser.error(f"no file {options.file}")
    result: dict[str, Any] = {"browser": options.browser, "error": None}

    def give_up() -> None:
        print(json.dumps({**result, "error": "still not done"}), flush=True)
        processes.end_processes()
        os._exit(1)

    timer = threading.Timer(browsers.START_SECONDS + 60 + 2 * options.seconds, give_up)
    timer.daemon = True
    timer.start()
    options.url = serve(str(options.file))
    options.insecure = True
    browser = None
    try:
        browser = BROWSERS[options.browser](options)
        browser.open(options.url)
        wanted = json.dumps({"seconds": options.seconds, "seek": options.seek})
        result.update(json.loads(browser.evaluate(SCRIPT % wanted)))
    except (browsers.BrowserError, OSError, ValueError) as error:
        result["error"] = f"{type(error).__name__}: {error}"
        if browser is not None:
            processes.log(browser.log_tail())
    if browser is not None:
        browser.close()
    print(json.dumps(result), flush=True)
    return 0 if result.get("framesDecoded", 0) > 0 and not result["error"] else 1


if __name__ == "__main__":
    sys.exit(main())
