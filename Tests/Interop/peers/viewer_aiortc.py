"""A viewer on aiortc (PyPI: aiortc), a WebRTC stack of its own in Python.

aiortc hands a picture on when the first packet of the next one is there, so all of its times are one picture
interval later than the last packet of the picture.
"""

from __future__ import annotations

import array
import asyncio
import math
import os
import re
import sys
import time
from fractions import Fraction
from typing import Any

import av
from aiortc import MediaStreamTrack, RTCBundlePolicy, RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from cradle import processes, viewing
from cradle.loopback import add_loopback_where_it_is_alone
from cradle.meters import PictureMeter, ToneMeter, write_png


class TalkTrack(MediaStreamTrack):
    """440 Hz at -20 dBFS."""

    kind = "audio"
    BLOCK = 960

    def __init__(self) -> None:
        super().__init__()
        self.started = time.monotonic()
        self.position = 0

    async def recv(self) -> av.AudioFrame:
        await asyncio.sleep(max(0.0, self.started + self.position / 48000 - time.monotonic()))
        step = 2 * math.pi * 440 / 48000
        block = array.array("h", (int(3277 * math.sin(step * (self.position + i))) for i in range(self.BLOCK)))
        frame = av.AudioFrame(format="s16", layout="mono", samples=self.BLOCK)
        frame.planes[0].update(block.tobytes())
        frame.sample_rate = 48000
        frame.pts = self.position
        frame.time_base = Fraction(1, 48000)
        self.position += self.BLOCK
        return frame


class Viewer:
    def __init__(self, options: Any, result: dict[str, Any]):
        self.options = options
        self.result = result
        self.pictures = PictureMeter()
        self.sound = ToneMeter()
        self.last_picture: av.VideoFrame | None = None
        self.whep = viewing.WhepSession(options.url, options.token, options.insecure)
        # aiortc's own policy leaves a second audio section on a transport that it stops.
        policy = RTCBundlePolicy.MAX_BUNDLE if options.microphone else RTCBundlePolicy.BALANCED
        servers = [RTCIceServer(**server) for server in options.servers]
        self.connection = RTCPeerConnection(RTCConfiguration(servers, bundlePolicy=policy))
        self.posted_at = 0.0
        self.media_flows = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []

    def since_post(self) -> float:
        return round((time.monotonic() - self.posted_at) * 1000, 1)

    async def run(self) -> None:
        connection, options = self.connection, self.options
        connection.on("connectionstatechange", self.on_state)
        connection.on("track", self.on_track)
        if options.microphone == "first":
            connection.addTransceiver(TalkTrack(), direction="sendonly")
        if not options.audio_only:
            picture = connection.addTransceiver("video", direction="recvonly")
            if options.video_codec:
                types = [f"video/{options.video_codec}", "video/rtx"]
                codecs = RTCRtpReceiver.getCapabilities("video").codecs
                picture.setCodecPreferences([codec for codec in codecs if codec.mimeType in types])
        if options.talk:
            connection.addTransceiver(TalkTrack(), direction="sendrecv")
        else:
            connection.addTransceiver("audio", direction="recvonly")
        if options.microphone == "last":
            connection.addTransceiver(TalkTrack(), direction="sendonly")
        if not options.no_data_channel:
            self.open_channel()
        await connection.setLocalDescription(await connection.createOffer())
        offer = connection.localDescription.sdp
        if options.no_feedback:
            offer = re.sub(r"a=rtcp-fb:.*\r\n", "", offer)
        answer = await asyncio.to_thread(self.whep.post, offer)
        self.posted_at = answer.posted_at
        self.result["whepStatus"] = answer.status
        self.result["timeToAnswerMs"] = round((answer.answered_at - answer.posted_at) * 1000, 1)
        sdp = viewing.keep_family(answer.sdp, options.media)
        await connection.setRemoteDescription(RTCSessionDescription(sdp, "answer"))
        try:
            await asyncio.wait_for(self.media_flows.wait(), 15)
        except asyncio.TimeoutError:
            self.result["error"] = f"no media within 15 s; connection is {connection.connectionState}"
            return
        await asyncio.sleep(options.duration)
        ended = time.time() * 1000
        await self.read_statistics()
        self.pictures.report(self.result, None if options.audio_only else ended)
        self.sound.report(self.result["audio"])

    def on_state(self) -> None:
        processes.log(f"connection: {self.connection.connectionState}")
        if self.connection.connectionState == "connected" and not self.result["connected"]:
            self.result["connected"] = True
            self.result["timeToConnectedMs"] = self.since_post()
        if self.connection.connectionState == "failed":
            self.result["error"] = "connection failed"

    def on_track(self, track: MediaStreamTrack) -> None:
        receive = self.receive_video if track.kind == "video" else self.receive_audio
        self.tasks.append(asyncio.ensure_future(receive(track)))

    def open_channel(self) -> None:
        channel = self.connection.createDataChannel(viewing.CHANNEL_LABEL, protocol=viewing.CHANNEL_PROTOCOL)
        control = viewing.ControlChannel(self.result["dataChannel"])
        channel.on("open", lambda: control.opened(channel.send))
        channel.on("message", lambda text: control.received(text) if isinstance(text, str) else None)

    async def receive_video(self, track: MediaStreamTrack) -> None:
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            now = time.time() * 1000
            if self.result["timeToFirstFrameMs"] is None:
                self.result["timeToFirstFrameMs"] = self.since_post()
                self.media_flows.set()
            plane = frame.planes[0]
            self.pictures.add(now, memoryview(plane), plane.line_size, frame.width, frame.height)
            self.last_picture = frame

    async def receive_audio(self, track: MediaStreamTrack) -> None:
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            if self.options.audio_only:
                self.media_flows.set()
            self.sound.add(bytes(frame.planes[0])[: frame.samples * 2 * len(frame.layout.channels)], len(frame.layout.channels))

    async def read_statistics(self) -> None:
        # A receiver's report holds its inbound streams; aiortc has no candidate pair in its statistics.
        lost = 0
        for receiver in self.connection.getReceivers():
            for entry in (await receiver.getStats()).values():
                if entry.type == "inbound-rtp":
                    lost += entry.packetsLost
                    if entry.kind == "audio":
                        self.result["audio"]["packets"] = entry.packetsReceived
        self.result["packetsLost"] = lost
        transports = [r.transport for r in self.connection.getReceivers()]
        ice = transports[0].transport._connection if transports else None
        pair = ice._nominated.get(1) if ice is not None else None
        if pair is not None:
            local, remote = pair.local_candidate, pair.remote_candidate
            self.result["candidatePair"] = {
                "local": viewing.candidate(local.host, local.port, local.type),
                "remote": viewing.candidate(remote.host, remote.port, remote.type),
            }
            self.result["ipFamily"] = viewing.ip_family(remote.host)
        for transceiver in self.connection.getTransceivers():
            if transceiver.kind == "video" and transceiver._codecs:
                self.result["codec"] = transceiver._codecs[0].name

    def save_screenshot(self) -> None:
        if self.last_picture is not None:
            picture = self.last_picture.reformat(format="rgb24")
            plane = picture.planes[0]
            write_png(self.options.screenshot, bytes(plane), picture.width, picture.height, plane.line_size)


async def watch(options: Any, result: dict[str, Any]) -> None:
    viewer = Viewer(options, result)
    try:
        await viewer.run()
        if options.screenshot:
            viewer.save_screenshot()
    except viewing.WhepError as error:
        result["whepStatus"], result["error"] = error.status, str(error)
    if options.leave == "vanish":
        status = viewing.finish(result, options.audio_only)
        os._exit(status)
    try:
        await asyncio.to_thread(viewer.whep.delete)
    except viewing.WhepError as error:
        result["error"] = result["error"] or str(error)
    await viewer.connection.close()


def main() -> int:
    options = viewing.argument_parser("aiortc").parse_args()
    result = viewing.empty_result("aiortc")
    viewing.last_deadline(result, options.duration + viewing.GRACE_SECONDS)
    add_loopback_where_it_is_alone()
    asyncio.run(watch(options, result))
    return viewing.finish(result, options.audio_only)


if __name__ == "__main__":
    sys.exit(main())
