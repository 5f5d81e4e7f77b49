"""Any number of light viewers in one process: aiortc without decoders, so that watching leaves the cores to the server.

Commands on standard input, one JSON object a line in return: `add` connects one more viewer and answers when its media
flows; `leave` ends all of them; `report` says what each received. The end of standard input ends everything.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import ssl
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable

import aiortc.rtcrtpreceiver
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError
from websockets.sync.client import ClientConnection, connect

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Interop" / "peers"))
import common  # noqa: E402
from identity import Identity, base64url, from_base64url  # noqa: E402
from viewer_aiortc import add_loopback_where_it_is_alone  # noqa: E402


class NoDecoder:
    """Takes encoded frames, counts them and makes nothing of them."""

    #: By the thread that decodes: aiortc has one for each receiver.
    frames: dict[int, int] = {}

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.frames[self.thread] = 0

    def decode(self, encoded: Any) -> list[Any]:
        self.frames[self.thread] += 1
        return []


class PairedSession:
    """One session of a paired parent in the child's own room. INTERFACES.md, "Rooms"."""

    #: A room's line stays open as long as its session: whoever's line closes may come back, but nobody here does.
    line: ClientConnection

    def __init__(self, url: str, state: Path):
        """`url`: the child's WHEP endpoint; `state`: the state directory of a `cradle-parent` that is paired with this child alone."""
        self.url = url.replace("https://", "wss://").removesuffix("/whep") + "/signal"
        self.parent = Identity(state / "identity.pem")
        self.child = json.loads((state / "pairs.json").read_text())["pairs"][0]["id"]
        self.session = base64url(os.urandom(16))

    def answer(self, offer: str) -> str:
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # What the child says is signed; here nobody is in between.
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        self.line = connect(self.url, ssl=trusting, compression=None, proxy=None)
        self.tell(cmd="register", roomid=self.child, clientid=base64url(os.urandom(16)))
        self.challenge = json.loads(self.line.recv(10))["registered"]["challenge"]
        self.say(type="offer", sdp=offer)
        while True:
            reply = json.loads(self.line.recv(10))
            if "error" in reply:
                raise RuntimeError(f"the room: {reply['error']}")
            message = json.loads(from_base64url(reply["msg"].split(".")[1])) if "msg" in reply else {}
            if message.get("type") == "bye":
                raise RuntimeError(f"the child says goodbye: {message.get('reason')}")
            if message.get("type") == "answer":
                return str(message["sdp"])

    def delete(self) -> None:
        self.say(type="bye", reason="left")
        self.line.close()

    def say(self, **content: str) -> None:
        message = {"from": self.parent.id, "to": self.child, "session": self.session, "challenge": self.challenge, **content}
        self.tell(cmd="send", to=self.child, msg=self.parent.signed(message))

    def tell(self, **message: str) -> None:
        self.line.send(json.dumps(message))


class TokenSession(common.WhepSession):
    def answer(self, offer: str) -> str:
        return self.post(offer).sdp


class Watcher:
    def __init__(self, session: TokenSession | PairedSession):
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.session = session
        self.tasks: list[asyncio.Task[None]] = []

    async def connect(self) -> None:
        connection = self.connection
        connection.on("track", lambda track: self.tasks.append(asyncio.ensure_future(self.drain(track))))
        connection.addTransceiver("video", direction="recvonly")
        connection.addTransceiver("audio", direction="recvonly")
        connection.createDataChannel(common.CHANNEL_LABEL, protocol=common.CHANNEL_PROTOCOL)
        await connection.setLocalDescription(await connection.createOffer())
        answer = await asyncio.to_thread(self.session.answer, connection.localDescription.sdp)
        await connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        deadline = time.monotonic() + 15
        while (await self.received()).get("video", {}).get("packets", 0) == 0:
            if time.monotonic() > deadline or connection.connectionState == "failed":
                raise TimeoutError(f"no picture; the connection is {connection.connectionState}")
            await asyncio.sleep(0.05)

    @staticmethod
    async def drain(track: Any) -> None:
        try:
            while True:
                await track.recv()
        except MediaStreamError:
            pass

    async def received(self) -> dict[str, Any]:
        found = {}
        for receiver in self.connection.getReceivers():
            for entry in (await receiver.getStats()).values():
                if entry.type == "inbound-rtp":
                    thread = receiver._RTCRtpReceiver__decoder_thread
                    found[entry.kind] = {
                        "packets": entry.packetsReceived, "lost": entry.packetsLost,
                        "frames": NoDecoder.frames.get(thread.ident, 0) if thread else 0,
                    }  # fmt: skip
        return found

    async def leave(self) -> None:
        await asyncio.to_thread(self.session.delete)
        await self.connection.close()
        for task in self.tasks:
            task.cancel()


async def serve(sessions: list[Callable[[], TokenSession | PairedSession]]) -> None:
    watchers: list[Watcher] = []
    while True:
        command = (await asyncio.to_thread(sys.stdin.readline)).strip()
        try:
            if command == "add":
                watchers.append(Watcher(sessions[len(watchers) % len(sessions)]()))
                await watchers[-1].connect()
            elif command in ("leave", ""):
                await asyncio.gather(*(watcher.leave() for watcher in watchers))
                watchers.clear()
            reply: dict[str, Any] = {"watching": len(watchers)}
            if command == "report":
                reply["time"] = time.time()
                reply["received"] = [await watcher.received() for watcher in watchers]
        except Exception as error:  # said to whoever gave the command, who knows what to do without this viewer
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
        if not command:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--token", default="", help="or several, separated by commas, used in turns: a child takes four viewers of one")
    parser.add_argument("--paired", default="", help="state directories of paired parents, separated by commas, used in turns after the tokens")
    options = parser.parse_args()
    aiortc.rtcrtpreceiver.get_decoder = lambda codec: NoDecoder()
    add_loopback_where_it_is_alone()
    sessions: list[Callable[[], TokenSession | PairedSession]] = []
    sessions += [lambda token=token: TokenSession(options.url, token) for token in options.token.split(",")]
    sessions += [lambda state=state: PairedSession(options.url, Path(state)) for state in options.paired.split(",") if state]
    asyncio.run(serve(sessions))


if __name__ == "__main__":
    main()
