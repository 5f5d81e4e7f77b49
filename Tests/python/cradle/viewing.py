"""What every viewer shares: arguments, the WHEP client, the result line and the last deadline.

Only the standard library, so that it runs with Debian's python3 (which has `gi`) and in a virtual environment alike.
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import os
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any, Callable

from . import processes

CHANNEL_LABEL = "control"
CHANNEL_PROTOCOL = "cradle.control.v1"
#: Seconds beyond --duration after which a viewer gives up, whatever it waits for.
GRACE_SECONDS = 25


def argument_parser(viewer: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"viewer_{viewer}.py",
        description="Watches a WHEP server for a while and prints what came as one JSON object on the last line.",
    )
    parser.add_argument("--url", required=True, help="WHEP endpoint, such as https://[::1]:8443/whep")
    parser.add_argument("--token", default="", help="bearer token")
    parser.add_argument("--verify", dest="insecure", action="store_false", help="check the server's certificate")
    parser.add_argument("--insecure", action="store_true", default=True, help="do not check it (the default)")
    parser.add_argument("--duration", type=float, default=5.0, help="seconds to watch from the first picture on")
    parser.add_argument("--audio-only", action="store_true", help="offer no video section")
    parser.add_argument("--video-codec", choices=["VP8", "H264"], help="offer this codec alone for the picture")
    parser.add_argument("--screenshot", metavar="FILE.png", help="write the last picture")
    parser.add_argument("--no-data-channel", action="store_true", help="offer no data channel")
    parser.add_argument("--talk", action="store_true", help="offer the audio section sendrecv and send a 440 Hz tone")
    parser.add_argument(
        "--microphone", choices=["first", "last"], help="aiortc: talk in a section of its own, before the others or after them"
    )
    parser.add_argument("--no-bundle", action="store_true", help="webrtcbin: a transport for each section, its own default")
    parser.add_argument("--no-feedback", action="store_true", help="aiortc: offer no RTCP feedback, so that none is sent")
    parser.add_argument(
        "--leave", choices=["delete", "vanish"], default="delete", help="end by DELETE, or as if the power went"
    )
    parser.add_argument(
        "--media", choices=["any", "ipv4", "ipv6"], default="any", help="use only the answer's candidates of this family"
    )
    parser.add_argument(
        "--servers", metavar="JSON", type=json.loads, default=[], help="aiortc: STUN and TURN servers, as RTCConfiguration's iceServers"
    )
    parser.add_argument(
        "--path", metavar="PORT@0:KBPS,SECONDS:KBPS", help="browsers: reach the child's UDP port by a path of these rates"
    )
    parser.add_argument(
        "--bandwidth", metavar="AS:300", action="append", default=[], help="browsers: a b= line for the offer's picture"
    )
    return parser


def empty_result(viewer: str) -> dict[str, Any]:
    """The shape of a result before anything happened. Units are in the names."""
    return {
        "viewer": viewer,
        "connected": False,
        "error": None,
        "whepStatus": None,
        "timeToAnswerMs": None,
        "timeToConnectedMs": None,
        "timeToFirstFrameMs": None,
        "framesDecoded": 0,
        "framesPerSecond": 0.0,
        "width": 0,
        "height": 0,
        "picturesChanged": False,
        "distinctPictures": 0,
        "freezeCount": 0,
        "freezeMs": 0,
        "latencyMs": {"p50": None, "p95": None, "count": 0},
        "audio": {"packets": 0, "toneHz": None, "toneDbfs": None, "beepHeard": False, "continuous": False},
        "dataChannel": {"opened": False, "hello": None, "pingMs": None, "heartbeats": 0},
        "packetsLost": None,
        "candidatePair": None,
        "codec": None,
        "ipFamily": None,
    }


_printed = threading.Lock()


def finish(result: dict[str, Any], audio_only: bool = False) -> int:
    """Prints the result once and returns the exit status: 0 with a connection and its media, else 1."""
    if _printed.acquire(blocking=False):
        print(json.dumps(result), flush=True)
    media = result["audio"]["packets"] > 0 if audio_only else result["framesDecoded"] > 0
    return 0 if result["connected"] and media and not result["error"] else 1


def last_deadline(result: dict[str, Any], seconds: float) -> None:
    """Ends the program with what is known so far when it is still running after `seconds`."""

    def give_up() -> None:
        result["error"] = result["error"] or f"still not done after {seconds:.0f} s"
        finish(result)
        processes.end_processes()
        os._exit(1)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()


# --- WHEP --------------------------------------------------------------------------------------------------------


class WhepError(Exception):
    def __init__(self, status: int | None, text: str):
        super().__init__(text)
        self.status = status


@dataclass
class Answer:
    sdp: str
    status: int
    #: time.monotonic() just before the request went out, and when its answer was there.
    posted_at: float
    answered_at: float


class WhepSession:
    """One resource of a WHEP server: POST makes it, PATCH trickles into it, DELETE ends it (draft-ietf-wish-whep)."""

    def __init__(self, url: str, token: str, insecure: bool = True):
        self.url = url
        self.token = token
        self.location: str | None = None
        self.context = ssl.create_default_context()
        if insecure:
            self.context.check_hostname = False
            self.context.verify_mode = ssl.CERT_NONE
        handlers = [urllib.request.HTTPSHandler(context=self.context), urllib.request.ProxyHandler({})]
        self.opener = urllib.request.build_opener(*handlers)

    def _request(self, method: str, url: str, body: str | None, content_type: str | None) -> Any:
        request = urllib.request.Request(url, data=body.encode() if body is not None else None, method=method)
        if content_type:
            request.add_header("Content-Type", content_type)
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            return self.opener.open(request, timeout=15)
        except urllib.error.HTTPError as error:
            detail = error.read(2000).decode("utf-8", "replace").strip()
            raise WhepError(error.code, f"{method} {url}: {error.code} {error.reason}: {detail}") from None
        except OSError as error:
            raise WhepError(None, f"{method} {url}: {error}") from None

    def post(self, offer: str) -> Answer:
        posted_at = time.monotonic()
        with self._request("POST", self.url, offer, "application/sdp") as response:
            sdp = response.read().decode()
            status = response.status
            location = response.headers.get("Location")
        if status != 201:
            raise WhepError(status, f"POST {self.url}: expected 201, got {status}")
        self.location = urllib.parse.urljoin(self.url, location) if location else None
        return Answer(sdp, status, posted_at, time.monotonic())

    def delete(self) -> int | None:
        """Ends the session; the status, or none when there is no resource to end."""
        if self.location is None:
            return None
        location, self.location = self.location, None
        with self._request("DELETE", location, None, None) as response:
            return int(response.status)


def keep_family(sdp: str, media: str) -> str:
    """The answer without the candidates of the other address family."""
    if media == "any":
        return sdp
    version = 6 if media == "ipv6" else 4
    lines = [line for line in sdp.splitlines() if not line.startswith("a=candidate:") or _family(line.split()[4]) == version]
    return "\r\n".join(lines) + "\r\n"


def _family(address: str) -> int | None:
    try:
        return ipaddress.ip_address(address.split("%")[0]).version
    except ValueError:
        return None


def ip_family(address: str | None) -> str | None:
    version = _family(address) if address else None
    return f"IPv{version}" if version else None


def candidate(address: str | None, port: int | None, kind: str | None) -> dict[str, Any]:
    return {"address": address, "port": port, "type": kind}


# --- The control channel -----------------------------------------------------------------------------------------


class ControlChannel:
    """The parent's end of the data channel: says ping, waits for hello, counts heartbeats."""

    PING = json.dumps({"id": "1", "text": "ping"})

    def __init__(self, report: dict[str, Any]):
        self.report = report
        self.pinged_at = 0.0

    def opened(self, send: Callable[[str], Any]) -> None:
        self.report["opened"] = True
        self.pinged_at = time.monotonic()
        send(self.PING)

    def received(self, text: str) -> None:
        try:
            message = json.loads(text)
        except ValueError:
            self.report["malformed"] = self.report.get("malformed", 0) + 1
            return
        if message.get("inReplyTo") == "1":
            self.report["pingMs"] = round((time.monotonic() - self.pinged_at) * 1000, 2)
        elif message.get("text") == "hello":
            self.report["hello"] = message
        elif message.get("text") == "heartbeat":
            self.report["heartbeats"] += 1
        elif message.get("text") == "goodbye":
            self.report["goodbye"] = message["parameters"]["reason"]
