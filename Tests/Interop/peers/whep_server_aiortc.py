"""A small WHEP server on aiortc: the test picture with its timecode, the test tone, and the control channel.

A comparison for the benchmarks, and another implementation to try viewers against. aiortc encodes once for each viewer.
Needs PyPI's aiortc.
"""

from __future__ import annotations

import argparse
import asyncio
import fractions
import json
import math
import array
import time
from typing import Any

import av
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from cradle.process_usage import usage
from cradle.test_picture import TestPicture, load_pictures
from cradle.whep_http import Started, WhepServer

FRAME_RATE = 30


class PictureTrack(MediaStreamTrack):
    kind = "video"

    def __init__(self, picture: TestPicture):
        super().__init__()
        self.picture = picture
        self.started: float | None = None
        self.number = 0

    async def recv(self) -> av.VideoFrame:
        if self.started is None:
            self.started = time.monotonic()
        self.number += 1
        await asyncio.sleep(max(0.0, self.started + self.number / FRAME_RATE - time.monotonic()))
        width, height = self.picture.width, self.picture.height
        data = self.picture.stamped(self.number)
        frame = av.VideoFrame(width, height, "yuv420p")
        offset = 0
        for plane, (w, h) in zip(frame.planes, [(width, height), (width // 2, height // 2), (width // 2, height // 2)]):
            if plane.line_size == w:
                plane.update(data[offset : offset + w * h])
            else:
                rows = (data[offset + y * w : offset + (y + 1) * w].ljust(plane.line_size, b"\0") for y in range(h))
                plane.update(b"".join(rows))
            offset += w * h
        frame.pts = self.number * (90000 // FRAME_RATE)
        frame.time_base = fractions.Fraction(1, 90000)
        return frame


class ToneTrack(MediaStreamTrack):
    """1 kHz at -20 dBFS; 2 kHz in the first 100 ms of each second of the wall clock."""

    kind = "audio"
    BLOCK = 960

    def __init__(self) -> None:
        super().__init__()
        self.started: float | None = None
        self.position = 0

    async def recv(self) -> av.AudioFrame:
        if self.started is None:
            self.started = time.time()
        now = self.started + self.position / 48000
        await asyncio.sleep(max(0.0, now - time.time()))
        frequency = 2000 if now % 1 < 0.1 else 1000
        wave = (math.sin(2 * math.pi * frequency * (self.position + i) / 48000) for i in range(self.BLOCK))
        frame = av.AudioFrame(format="s16", layout="mono", samples=self.BLOCK)
        frame.planes[0].update(array.array("h", (int(3277 * value) for value in wave)).tobytes())
        frame.sample_rate = 48000
        frame.pts = self.position
        frame.time_base = fractions.Fraction(1, 48000)
        self.position += self.BLOCK
        return frame


async def answer(offer: str, picture: TestPicture, connections: set[RTCPeerConnection]) -> tuple[str, RTCPeerConnection]:
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    connections.add(connection)
    beats: list[asyncio.Task[None]] = []

    @connection.on("datachannel")
    def on_channel(channel: Any) -> None:
        channel.send(json.dumps({"text": "hello", "parameters": {"version": "aiortc"}}))

        @channel.on("message")
        def on_message(text: str) -> None:
            reply = {"inReplyTo": json.loads(text)["id"], "text": "ok", "parameters": {"time": time.time()}}
            channel.send(json.dumps(reply))

        async def beat() -> None:
            while channel.readyState == "open":
                channel.send(json.dumps({"text": "heartbeat"}))
                await asyncio.sleep(1)

        beats.append(asyncio.ensure_future(beat()))

    @connection.on("connectionstatechange")
    async def on_state() -> None:
        if connection.connectionState in ("failed", "closed"):
            connections.discard(connection)
            for task in beats:
                task.cancel()

    await connection.setRemoteDescription(RTCSessionDescription(offer, "offer"))
    for transceiver in connection.getTransceivers():
        transceiver.sender.replaceTrack(PictureTrack(picture) if transceiver.kind == "video" else ToneTrack())
        transceiver.direction = "sendonly"
    await connection.setLocalDescription(await connection.createAnswer())
    return connection.localDescription.sdp, connection


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8555)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--token", default="")
    parser.add_argument("--y4m", help="pictures to loop; none: some made here")
    parser.add_argument("--bitrate", type=int, default=2500, help="kbit/s")
    options = parser.parse_args()
    import aiortc.codecs.vpx as vpx

    vpx.DEFAULT_BITRATE = vpx.MAX_BITRATE = options.bitrate * 1000
    picture = TestPicture(load_pictures(options.y4m))
    connections: set[RTCPeerConnection] = set()
    loop = asyncio.new_event_loop()

    def start(offer: str) -> Started:
        sdp, connection = asyncio.run_coroutine_threadsafe(answer(offer, picture, connections), loop).result(10)
        return Started(sdp, lambda: asyncio.run_coroutine_threadsafe(connection.close(), loop).result(10))

    server = WhepServer(options.listen, options.port, start, lambda: usage() | {"viewers": len(connections)}, options.token)
    if options.tls:
        server.use_tls()
    server.run_in_background()
    print(f"listening on {server.server_address[1]}", flush=True)
    loop.run_forever()


if __name__ == "__main__":
    main()
