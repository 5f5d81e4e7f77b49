"""The other end of `Examples/Echo`, on aiortc: sends pictures with a timecode, a tone and messages, and judges what comes back.

    echo_aiortc.py --program Echo offer|answer      which of the two Echo is to be

Prints one line of JSON. Needs PyPI's aiortc.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import Any

import av
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from cradle import viewing
from cradle.meters import PictureMeter, ToneMeter
from cradle.test_picture import TestPicture, panning_texture
from whep_server_aiortc import PictureTrack, ToneTrack


class Other:
    def __init__(self, result: dict[str, Any]):
        self.result = result
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.pictures = PictureMeter()
        self.sound = ToneMeter()
        self.tasks: list[asyncio.Task[None]] = []
        self.connection.on("track", self.on_track)
        self.connection.on("datachannel", lambda channel: channel.on("message", self.on_greeting))

    def media(self) -> list[MediaStreamTrack]:
        return [ToneTrack(), PictureTrack(TestPicture(panning_texture(320, 180, 30)))]

    def on_track(self, track: MediaStreamTrack) -> None:
        self.tasks.append(asyncio.ensure_future(self.receive(track)))

    async def receive(self, track: MediaStreamTrack) -> None:
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            if isinstance(frame, av.VideoFrame):
                plane = frame.planes[0]
                self.pictures.add(time.time() * 1000, memoryview(plane), plane.line_size, frame.width, frame.height)
            else:
                channels = len(frame.layout.channels)
                self.sound.add(bytes(frame.planes[0])[: frame.samples * 2 * channels], channels)

    def on_greeting(self, message: Any) -> None:
        """On the channel that Echo opens."""
        self.result["greeting"] = message

    def open_channel(self) -> None:
        channel = self.connection.createDataChannel("echo")
        channel.on("open", lambda: [channel.send("Grüße"), channel.send(b"\x00\xff"), channel.send("x" * 60_000)])
        channel.on("message", lambda message: self.result["messages"].append(
            message if isinstance(message, str) and len(message) < 100 else f"{len(message)} {type(message).__name__}"))

    def judge(self) -> None:
        self.pictures.report(self.result)
        self.sound.report(self.result["audio"])


async def talk(program: str, role: str, seconds: float, result: dict[str, Any]) -> None:
    echo = await asyncio.create_subprocess_exec(
        program, role, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)

    async def read() -> str:
        lines = []
        while (line := (await echo.stdout.readline()).decode().strip()):
            lines.append(line + "\r\n")
        return "".join(lines)

    async def write(description: str) -> None:
        echo.stdin.write(description.encode() + b"\n")
        await echo.stdin.drain()

    other = Other(result)
    connection = other.connection
    try:
        if role == "answer":
            for track in other.media():
                connection.addTrack(track)
            other.open_channel()
            await connection.setLocalDescription(await connection.createOffer())
            await write(connection.localDescription.sdp)
            await connection.setRemoteDescription(RTCSessionDescription(await read(), "answer"))
        else:
            await connection.setRemoteDescription(RTCSessionDescription(await read(), "offer"))
            for track in other.media():
                connection.addTrack(track)
            other.open_channel()
            await connection.setLocalDescription(await connection.createAnswer())
            await write(connection.localDescription.sdp)
        # Until enough has come back, however slow the machine is; the last deadline is the caller's.
        while len(other.pictures.times_ms) < 30 * seconds or other.sound.total < 48_000 * seconds or len(result["messages"]) < 3:
            await asyncio.sleep(0.1)
        result["connected"] = connection.connectionState == "connected"
        other.judge()
        await connection.close()
        result["log"] = (await echo.stdout.read()).decode().splitlines()
        result["status"] = await echo.wait()
    finally:
        if echo.returncode is None:
            echo.kill()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("role", choices=["offer", "answer"])
    options = parser.parse_args()
    result = viewing.empty_result("aiortc") | {"messages": [], "greeting": None, "log": [], "status": None}
    viewing.last_deadline(result, options.seconds + 30)
    asyncio.run(talk(options.program, options.role, options.seconds, result))
    return viewing.finish(result)


if __name__ == "__main__":
    raise SystemExit(main())
