"""What the browsers' viewers share: driving a page over a WebSocket, and judging the record that watch.js makes.

Needs websockets (PyPI: websockets).
"""

from __future__ import annotations

import base64
import json
import os
import pathlib
import subprocess
import time
import urllib.parse
from typing import Any, Callable

import websockets.exceptions
import websockets.sync.client

from . import narrow_path, processes, viewing
from .meters import MOST_JUDGED_SECONDS, PictureMeter, ToneMeter

#: What a page runs that watches any WHEP server.
WATCH_SCRIPT = pathlib.Path(__file__).with_name("watch.js")
#: Seconds that a browser may take to start on a busy machine.
START_SECONDS = 30


class BrowserError(Exception):
    pass


class Remote:
    """Commands and their replies as JSON; the DevTools protocol and WebDriver BiDi have this shape in common."""

    def __init__(self, url: str):
        # No keepalive: a page that is busy is no reason to hang up, and the viewer has a last deadline anyway.
        self.socket = websockets.sync.client.connect(
            url, max_size=None, ping_interval=None, compression=None, open_timeout=START_SECONDS, proxy=None
        )
        self.number = 0

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        try:
            self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
            while True:
                reply = json.loads(self.socket.recv())
                if reply.get("id") == self.number:
                    break
        except websockets.exceptions.ConnectionClosed as error:
            raise BrowserError(f"the browser went away during {method}: {error}") from None
        if "error" in reply:
            raise BrowserError(f"{method}: {reply.get('message') or reply['error']}")
        return dict(reply.get("result") or {})


class Browser:
    """One browser with a profile of its own that is gone with it."""

    #: The file in the profile that says where the browser listens.
    port_file = ""

    def __init__(self, name: str, options: Any):
        self.options = options
        self.profile = processes.temporary_directory(name)
        home = os.path.join(self.profile, "home")
        os.mkdir(home)
        self.log_path = os.path.join(home, "browser.log")
        self.environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "TMPDIR": home}
        for variable in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):
            self.environment.pop(variable, None)

    def start(self, command: list[str]) -> str:
        """Starts the program; returns what is in the port file once it is whole."""
        with open(self.log_path, "wb") as log:
            self.process = processes.start_process(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        path = os.path.join(self.profile, self.port_file)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise BrowserError(f"{command[0]} ended with status {self.process.returncode}: {self.log_tail()}")
            try:
                text = pathlib.Path(path).read_text()
            except OSError:
                text = ""
            if self.is_whole(text):
                return text
            time.sleep(0.05)
        raise BrowserError(f"{command[0]} did not listen within {START_SECONDS} s: {self.log_tail()}")

    def log_tail(self) -> str:
        try:
            return pathlib.Path(self.log_path).read_text(errors="replace")[-1500:].strip()
        except OSError:
            return ""

    def is_whole(self, text: str) -> bool:
        raise NotImplementedError

    def open(self, url: str) -> None:
        """Goes to a page and waits until it is loaded."""
        raise NotImplementedError

    def evaluate(self, expression: str) -> Any:
        """The value of an expression; of its promise when it is one."""
        raise NotImplementedError

    def close(self) -> None:
        processes.end_process(self.process)

    def kill(self) -> None:
        processes.end_process(self.process, gently=False)


def page_options(options: Any, relay_port: int | None = None) -> dict[str, Any]:
    return {
        "relayPort": relay_port,
        "url": options.url,
        "token": options.token,
        "seconds": options.duration,
        "audioOnly": options.audio_only,
        "videoCodec": options.video_codec,
        "dataChannel": not options.no_data_channel,
        "talk": options.talk,
        "media": options.media,
        "screenshot": bool(options.screenshot),
        "soundSeconds": MOST_JUDGED_SECONDS,
        "channel": viewing.CHANNEL_LABEL,
        "protocol": viewing.CHANNEL_PROTOCOL,
        "ping": viewing.ControlChannel.PING,
        "bandwidth": options.bandwidth,
    }


def judge(record: dict[str, Any], options: Any, result: dict[str, Any]) -> None:
    """Fills the result from the page's record, with the meters of every viewer."""
    for name in ("connected", "error", "whepStatus", "timeToAnswerMs", "timeToConnectedMs", "timeToFirstFrameMs"):
        result[name] = record.get(name, result[name])
    for name in ("packetsLost", "candidatePair", "codec", "framesDecoded"):
        result[name] = record.get(name, result[name])
    result["dataChannel"] = record["dataChannel"]
    # What the browser itself counted, beside our own measure.
    result["browser"] = record["statistics"]
    pair = result["candidatePair"]
    if pair is not None:
        result["ipFamily"] = viewing.ip_family(pair["remote"]["address"]) or viewing.ip_family(pair["local"]["address"])
    pictures = PictureMeter()
    for wall_ms, timecode, changed, width, height in record["pictures"]:
        pictures.add_record(wall_ms, timecode, bool(changed), width, height)
    result["sizes"] = size_changes(record["pictures"])
    pictures.report(result, record["endedAt"] if pictures.times_ms and not options.audio_only else None)
    sound = ToneMeter()
    sound.add(base64.b64decode(record["sound"]["pcm"]))
    sound.total = record["sound"]["samples"]
    result["audio"]["packets"] = record.get("audioPackets", 0)
    sound.report(result["audio"])
    if options.screenshot and record["screenshot"]:
        with open(options.screenshot, "wb") as file:
            file.write(base64.b64decode(record["screenshot"].split(",", 1)[1]))


def size_changes(pictures: list[list[Any]]) -> list[dict[str, Any]]:
    """Each size with the time of its first picture, in seconds from the very first, and how many there were."""
    changes: list[dict[str, Any]] = []
    for wall_ms, _, _, width, height in pictures:
        if not changes or (changes[-1]["width"], changes[-1]["height"]) != (width, height):
            at = round((wall_ms - pictures[0][0]) / 1000, 2)
            changes.append({"at": at, "width": width, "height": height, "pictures": 0})
        changes[-1]["pictures"] += 1
    return changes


def watch(browser: Browser, options: Any, result: dict[str, Any]) -> None:
    # A page of the same origin without a content security policy, so that the script needs no leave from the server.
    browser.open(urllib.parse.urljoin(options.url, "/healthz"))
    browser.evaluate(WATCH_SCRIPT.read_text() + "\n;true")
    path = narrow_path.parse(options.path) if options.path else None
    if path is not None:
        path.start()
    settings = page_options(options, path.port if path is not None else None)
    record = json.loads(browser.evaluate(f"cradleWatch.watch({json.dumps(settings)})"))
    if options.leave == "vanish":
        browser.kill()
    else:
        problem = browser.evaluate("cradleWatch.leave()")
        record["error"] = record["error"] or problem or None
    judge(record, options, result)


def run(name: str, make: Callable[[Any], Browser]) -> int:
    options = viewing.argument_parser(name).parse_args()
    result = viewing.empty_result(name)
    viewing.last_deadline(result, options.duration + viewing.GRACE_SECONDS + START_SECONDS)
    browser = None
    try:
        browser = make(options)
        watch(browser, options, result)
    except (BrowserError, OSError, ValueError, websockets.exceptions.WebSocketException) as error:
        result["error"] = result["error"] or f"{type(error).__name__}: {error}"
        if browser is not None:
            processes.log(browser.log_tail())
    if browser is not None and options.leave != "vanish":
        browser.close()
    return viewing.finish(result, options.audio_only)
