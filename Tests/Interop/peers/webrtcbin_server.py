#!/usr/bin/python3
"""The comparison: a WHEP server of the usual parts, GStreamer's webrtcbin behind one shared VP8 encoder.

Same pictures, size, rate, encoder settings and tone as the child's test device. Needs Debian's python3-gi,
gir1.2-gst-plugins-bad-1.0, gstreamer1.0-plugins-{base,good,bad} and gstreamer1.0-nice (so Debian's python3).
With `--live` the pictures come from another program that draws and stamps them (`cradle-benchmarks y4m - --live`), so
that neither their drawing nor the room for them counts here. `--draw-only` runs the pictures into a sink, to learn what
taking them in costs.
"""

from __future__ import annotations

import argparse
import fcntl
import itertools
import json
import random
import re
import shlex
import subprocess
import threading
import time
from typing import Any

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstVideo", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstApp, GstSdp, GstVideo, GstWebRTC  # noqa: E402, F401

from cradle.process_usage import usage
from cradle.test_picture import TestPicture, load_pictures
from cradle.whep_http import Started, WhepServer

FRAME_RATE = 30


def payload_type(offer: str, kind: str, encoding: str) -> int | None:
    """The number that the offer gives to a codec in its section of that kind."""
    section = re.search(rf"m={kind} (.*?)(?=\r?\nm=|\Z)", offer, re.DOTALL)
    found = section and re.search(rf"a=rtpmap:(\d+) {encoding}/", section.group(1), re.IGNORECASE)
    return int(found.group(1)) if found else None


def encoder(options: argparse.Namespace) -> str:
    # deadline=1 is libvpx's real-time mode; a negative cpu-used is a fixed speed there.
    return (
        f"vp8enc deadline=1 cpu-used={options.cpu_used} end-usage=cbr target-bitrate={options.bitrate * 1000} "
        f"lag-in-frames=0 threads={options.threads} keyframe-mode=disabled max-intra-bitrate=600 "
        f"error-resilient={options.error_resilient} static-threshold={options.static_threshold} "
        f"min-quantizer={options.min_quantizer} max-quantizer={options.max_quantizer} "
        "undershoot=100 overshoot=50 buffer-size=600 buffer-initial-size=300 buffer-optimal-size=400 "
        "dropframe-threshold=10 "
        f"token-partitions={options.token_partitions}"
    )


class LiveSource:
    """Passes on the pictures that another program draws at their rate, as Y4M."""

    #: Linux: room in a pipe. A picture fits nearly whole, so that neither side waits for the other in small steps.
    PIPE_BYTES = 1 << 20

    def __init__(self, command: str):
        self.process = subprocess.Popen(shlex.split(command), stdout=subprocess.PIPE)
        self.file = self.process.stdout
        assert self.file is not None
        fcntl.fcntl(self.file, fcntl.F_SETPIPE_SZ, self.PIPE_BYTES)
        header = self.file.readline().decode("ascii").split()
        fields = {field[0]: field[1:] for field in header[1:]}
        self.width, self.height = int(fields["W"]), int(fields["H"])
        self.source: Any = None
        self.pushed = 0

    def start(self, source: Any) -> None:
        self.source = source
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        size = self.width * self.height * 3 // 2
        while self.file.readline():
            if self.source.push_buffer(Gst.Buffer.new_wrapped(self.file.read(size))) != Gst.FlowReturn.OK:
                return
            self.pushed += 1


class RecordedSource:
    """Pushes the stamped pictures of a recording at their rate, from a thread of its own."""

    def __init__(self, picture: TestPicture):
        self.picture = picture
        self.width, self.height = picture.width, picture.height
        self.source: Any = None
        self.pushed = 0

    def start(self, source: Any) -> None:
        self.source = source
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        started = time.monotonic()
        for number in itertools.count(1):
            time.sleep(max(0.0, started + number / FRAME_RATE - time.monotonic()))
            buffer = Gst.Buffer.new_wrapped(self.picture.stamped(number))
            if self.source.push_buffer(buffer) != Gst.FlowReturn.OK:
                return
            self.pushed = number


class Viewer:
    """One webrtcbin with its queues and payloaders, hung on the tees."""

    numbers = itertools.count(1)

    def __init__(self, server: "Server", offer: str):
        self.server = server
        self.name = f"viewer{next(self.numbers)}"
        self.added: list[Any] = []
        self.tee_pads: list[tuple[Any, Any]] = []
        self.keep_channel: Any = None
        self.gathered = threading.Event()
        self.webrtc = self._make("webrtcbin", **{"bundle-policy": GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE})
        self.webrtc.set_property("latency", 0)
        self.webrtc.connect("notify::ice-gathering-state", self._gathering)
        self.webrtc.connect("notify::connection-state", self._connection)
        self.webrtc.connect("on-data-channel", self._channel)
        self.connected_at: float | None = None
        video = payload_type(offer, "video", "VP8")
        audio = payload_type(offer, "audio", "opus")
        # The sections' order decides which sink pad belongs to which.
        kinds = [kind for kind in re.findall(r"^m=(audio|video) ", offer, re.MULTILINE)]
        links = []
        for kind in kinds:
            if kind == "video" and video is not None:
                # The answer names the sender's SSRC only when the caps do; with a wrong one Chromium shows no picture.
                ssrc = random.randrange(1, 1 << 32)
                payloader = f"rtpvp8pay name=pay picture-id-mode=15-bit pt={video} mtu=1200 ssrc={ssrc}"
                caps = f"application/x-rtp,media=video,encoding-name=VP8,payload={video},clock-rate=90000,ssrc=(uint){ssrc}"
                links.append((server.video_tee, payloader, caps))
            elif kind == "audio" and audio is not None:
                payloader = f"rtpopuspay name=pay pt={audio}"
                caps = f"application/x-rtp,media=audio,encoding-name=OPUS,payload={audio},clock-rate=48000,encoding-params=(string)2"
                links.append((server.audio_tee, payloader, caps))
        self.branches = [self._branch(*link) for link in links]

    def _make(self, factory: str, **properties: Any) -> Any:
        element = Gst.ElementFactory.make(factory, f"{self.name}-{factory}")
        for key, value in properties.items():
            element.set_property(key, value)
        self._add(element)
        return element

    def _add(self, element: Any) -> None:
        self.server.pipeline.add(element)
        self.added.append(element)

    def _branch(self, tee: Any, payloader: str, caps: str) -> tuple[Any, Any]:
        # A leaky queue, so that one viewer's trouble stays its own.
        branch = Gst.parse_bin_from_description(
            f"queue leaky=downstream max-size-buffers=60 max-size-time=0 max-size-bytes=0 ! {payloader} ! capsfilter caps={caps}", True
        )
        self._add(branch)
        sink = self.webrtc.request_pad_simple("sink_%u")
        branch.get_static_pad("src").link(sink)
        sink.get_property("transceiver").set_property("do-nack", True)
        return tee, branch

    def _gathering(self, *_: Any) -> None:
        if self.webrtc.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self.gathered.set()

    def _connection(self, *_: Any) -> None:
        if self.webrtc.get_property("connection-state") == GstWebRTC.WebRTCPeerConnectionState.CONNECTED:
            self.connected_at = time.monotonic()
            self.server.request_keyframe()

    def _channel(self, _: Any, channel: Any) -> None:
        self.keep_channel = channel

        def on_message(_: Any, text: str) -> None:
            reply = {"inReplyTo": json.loads(text).get("id"), "text": "ok", "parameters": {"time": time.time()}}
            channel.emit("send-string", json.dumps(reply))

        def beat() -> bool:
            if channel.get_property("ready-state") != GstWebRTC.WebRTCDataChannelState.OPEN:
                return False
            channel.emit("send-string", json.dumps({"text": "heartbeat"}))
            return True

        channel.connect("on-message-string", on_message)
        channel.emit("send-string", json.dumps({"text": "hello", "parameters": {"version": "webrtcbin"}}))
        GLib.timeout_add(1000, beat)

    def answer(self, offer: str) -> str:
        for element in self.added:
            element.sync_state_with_parent()
        description = self._description(GstWebRTC.WebRTCSDPType.OFFER, offer)
        self._wait("set-remote-description", description)
        reply = self._wait("create-answer", None)
        local = reply.get_value("answer")
        self._wait("set-local-description", local)
        self.gathered.wait(5)
        for tee, branch in self.branches:
            pad = tee.request_pad_simple("src_%u")
            pad.link(branch.get_static_pad("sink"))
            self.tee_pads.append((tee, pad))
        return str(self.webrtc.get_property("local-description").sdp.as_text())

    def _wait(self, signal: str, argument: Any) -> Any:
        promise = Gst.Promise.new()
        self.webrtc.emit(signal, argument, promise)
        if promise.wait() != Gst.PromiseResult.REPLIED:
            raise RuntimeError(f"webrtcbin: {signal} was not done")
        reply = promise.get_reply()
        if reply is not None and reply.has_field("error"):
            raise RuntimeError(f"webrtcbin: {signal}: {reply.get_value('error').message}")
        return reply

    @staticmethod
    def _description(kind: Any, text: str) -> Any:
        _, message = GstSdp.SDPMessage.new_from_text(text)
        return GstWebRTC.WebRTCSessionDescription.new(kind, message)

    def end(self) -> None:
        for tee, pad in self.tee_pads:
            peer = pad.get_peer()
            if peer is not None:
                pad.unlink(peer)
            tee.release_request_pad(pad)
        # First, or removing the others waits for ever when the viewer never connected.
        self.webrtc.set_state(Gst.State.NULL)
        for element in reversed(self.added):
            element.set_state(Gst.State.NULL)
            self.server.pipeline.remove(element)
        self.server.viewers.discard(self)


class Server:
    def __init__(self, options: argparse.Namespace):
        self.source = LiveSource(options.live) if options.live else RecordedSource(TestPicture(load_pictures(options.y4m)))
        size = f"width={self.source.width},height={self.source.height}"
        caps = f"video/x-raw,format=I420,{size},framerate={FRAME_RATE}/1"
        source = f"appsrc name=source is-live=true do-timestamp=true format=time max-buffers=2 leaky-type=downstream caps={caps}"
        if options.draw_only:
            description = f"{source} ! fakesink sync=false"
        else:
            description = (
                f"{source} ! queue leaky=downstream max-size-buffers=2 ! {encoder(options)} name=encoder ! "
                "tee name=video allow-not-linked=true "
                "audiotestsrc is-live=true freq=1000 volume=0.1 samplesperbuffer=960 ! audio/x-raw,rate=48000,channels=1 ! "
                "opusenc bitrate=32000 frame-size=20 ! tee name=audio allow-not-linked=true"
            )
        self.pipeline = Gst.parse_launch(description)
        self.video_tee = self.pipeline.get_by_name("video")
        self.audio_tee = self.pipeline.get_by_name("audio")
        self.encoder = self.pipeline.get_by_name("encoder")
        self.viewers: set[Viewer] = set()
        self.pipeline.set_state(Gst.State.PLAYING)
        self.source.start(self.pipeline.get_by_name("source"))

    def start(self, offer: str) -> Started:
        viewer = Viewer(self, offer)
        self.viewers.add(viewer)
        try:
            answer = viewer.answer(offer)
        except Exception:
            viewer.end()
            raise
        return Started(answer, viewer.end)

    def request_keyframe(self) -> None:
        event = GstVideo.video_event_new_upstream_force_key_unit(Gst.CLOCK_TIME_NONE, True, 0)
        self.encoder.get_static_pad("src").send_event(event)

    def stats(self) -> dict[str, Any]:
        return usage() | {"viewers": len(self.viewers), "pictures": self.source.pushed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8556)
    parser.add_argument("--tls", action="store_true", help="HTTPS with a self-signed certificate")
    parser.add_argument("--token", default="")
    parser.add_argument("--y4m", help="pictures to loop; none: some made here")
    parser.add_argument("--live", metavar="COMMAND", help="a program that writes live Y4M to its standard output")
    parser.add_argument("--draw-only", action="store_true", help="no encoder and no viewers")
    parser.add_argument("--bitrate", type=int, default=1500, help="kbit/s")
    parser.add_argument("--cpu-used", type=int, default=-8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--error-resilient", default="0", help="0, default or partitions")
    parser.add_argument("--static-threshold", type=int, default=1)
    parser.add_argument("--min-quantizer", type=int, default=4)
    parser.add_argument("--max-quantizer", type=int, default=63)
    parser.add_argument("--token-partitions", type=int, default=0, help="power of two")
    options = parser.parse_args()
    Gst.init(None)
    server = Server(options)
    http = WhepServer(options.listen, options.port, server.start, server.stats, options.token)
    if options.tls:
        http.use_tls()
    http.run_in_background()
    print(f"listening on {http.server_address[1]}", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
