"""Any number of light viewers in one process: aiortc without decoders, so that watching leaves the cores to the server.

Commands on standard input, one JSON object a line in return: `add` connects one more viewer and answers when its media
flows; `leave` ends all of them; `report` says what each received. The end of standard input ends everything.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
import time
from typing import Any

import aiortc.rtcrtpreceiver
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from cradle import viewing
from cradle.loopback import add_loopback_where_it_is_alone


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


class Watcher:
    def __init__(self, url: str, token: str):
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.whep = viewing.WhepSession(url, token)
        self.tasks: list[asyncio.Task[None]] = []

    async def connect(self) -> None:
        connection = self.connection
        connection.on("track", lambda track: self.tasks.append(asyncio.ensure_future(self.drain(track))))
        connection.addTransceiver("video", direction="recvonly")
        connection.addTransceiver("audio", direction="recvonly")
        connection.createDataChannel(viewing.CHANNEL_LABEL, protocol=viewing.CHANNEL_PROTOCOL)
        await connection.setLocalDescription(await connection.createOffer())
        answer = await asyncio.to_thread(self.whep.post, connection.localDescription.sdp)
        await connection.setRemoteDescription(RTCSessionDescription(answer.sdp, "answer"))
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
        await asyncio.to_thread(self.whep.delete)
        await self.connection.close()
        for task in self.tasks:
            task.cancel()


async def serve(url: str, tokens: list[str]) -> None:
    watchers: list[Watcher] = []
    while True:
        command = (await asyncio.to_thread(sys.stdin.readline)).strip()
        try:
            if command == "add":
                watchers.append(Watcher(url, tokens[len(watchers) % len(tokens)]))
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
    options = parser.parse_args()
    aiortc.rtcrtpreceiver.get_decoder = lambda codec: NoDecoder()
    add_loopback_where_it_is_alone()
    asyncio.run(serve(options.url, options.token.split(",")))


if __name__ == "__main__":
    main()
