#!/usr/bin/python3
"""A viewer on GStreamer's webrtcbin (libnice, its own DTLS-SRTP and SCTP elements, libvpx and libopus behind them).

Needs Debian's python3-gi, gir1.2-gst-plugins-base-1.0, gir1.2-gst-plugins-bad-1.0, gstreamer1.0-nice and
gstreamer1.0-plugins-{base,good,bad}, so it runs with Debian's /usr/bin/python3. Tried with GStreamer 1.22.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any, Callable

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstVideo", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import Gst, GstApp, GstSdp, GstVideo, GstWebRTC  # noqa: E402,F401

from cradle import processes, viewing
from cradle.meters import PictureMeter, ToneMeter, write_png

#: What the jitter buffers wait for a missing packet, and for the first one. webrtcbin's own default is 200 ms.
LATENCY_MS = 20
#: Seconds for the candidates to be gathered, and for the first media to come.
GATHERING_SECONDS = 5
MEDIA_SECONDS = 15

# webrtcbin writes a=rtcp-fb transport-cc always, but gives feedback only where this header extension is agreed.
TRANSPORT_WIDE = (
    "rtcp-fb-transport-cc=(boolean)true,"
    "extmap-1=(string)http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
)
FEEDBACK = f"clock-rate=90000,rtcp-fb-nack-pli=(boolean)true,rtcp-fb-ccm-fir=(boolean)true,{TRANSPORT_WIDE}"
VIDEO_CAPS = {
    "VP8": f"application/x-rtp,media=video,encoding-name=VP8,payload=96,{FEEDBACK}",
    "H264": "application/x-rtp,media=video,encoding-name=H264,payload=102,packetization-mode=(string)1,"
    f"profile-level-id=(string)42e01f,{FEEDBACK}",
}
AUDIO_CAPS = (
    "application/x-rtp,media=audio,encoding-name=OPUS,payload=111,clock-rate=48000,encoding-params=(string)2,"
    f"minptime=(string)10,useinbandfec=(string)1,{TRANSPORT_WIDE}"
)
QUEUE = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! "
PICTURES = "video/x-raw,format=I420 ! appsink name=sink emit-signals=true sync=false max-buffers=0"
# Nothing here waits for a clock: a picture is judged when it is decoded.
DECODE = {
    "VP8": f"{QUEUE}rtpvp8depay request-keyframe=true wait-for-keyframe=true ! vp8dec ! {PICTURES}",
    "H264": f"{QUEUE}rtph264depay request-keyframe=true wait-for-keyframe=true ! h264parse ! openh264dec ! {PICTURES}",
    "OPUS": f"{QUEUE}"
    "rtpopusdepay ! opusdec plc=true use-inband-fec=true ! audioconvert ! audioresample ! "
    "audio/x-raw,format=S16LE,rate=48000,channels=1 ! appsink name=sink emit-signals=true sync=false max-buffers=0",
}
#: 440 Hz at -20 dBFS.
TALK = (
    "audiotestsrc is-live=true wave=sine freq=440 volume=0.1 samplesperbuffer=960 ! audio/x-raw,rate=48000,channels=1 ! "
    f"opusenc bitrate=32000 frame-size=20 ! rtpopuspay pt=111 ! capsfilter caps=\"{AUDIO_CAPS}\""
)


class ViewerError(Exception):
    """What ends the run with an error in the result."""


def states(element: Any) -> str:
    names = ("connection-state", "ice-connection-state")
    return ", ".join(f"{name} {element.get_property(name).value_nick}" for name in names)


class Viewer:
    def __init__(self, options: Any, result: dict[str, Any]):
        self.options = options
        self.result = result
        self.pictures = PictureMeter()
        self.sound = ToneMeter()
        self.last_sample: Any = None
        self.whep = viewing.WhepSession(options.url, options.token, options.insecure)
        self.posted_at = 0.0
        self.gathered = threading.Event()
        self.connected = threading.Event()
        self.media_flows = threading.Event()
        #: Taken by whoever writes the result: webrtcbin calls back from threads of its own.
        self.lock = threading.Lock()
        self.measuring = True
        self.channel: Any = None
        self.replies: list[Any] = []
        self.jitter_buffers: list[Any] = []
        #: Of the last packet of sound that the jitter buffer gave out, RFC 3550 section 5.1.
        self.sound_number: int | None = None
        self.pipeline = Gst.Pipeline.new("viewer")
        self.bus = self.pipeline.get_bus()
        self.webrtc = Gst.ElementFactory.make("webrtcbin", "webrtc")
        if self.webrtc is None:
            raise ViewerError("no element webrtcbin: gstreamer1.0-plugins-bad is missing")
        if not options.no_bundle:
            self.webrtc.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        self.webrtc.set_property("latency", options.latency)
        self.webrtc.connect("notify::ice-gathering-state", self.on_gathering)
        self.webrtc.connect("notify::connection-state", self.on_state)
        self.webrtc.connect("pad-added", self.on_pad)
        self.webrtc.connect("deep-element-added", self.on_element)
        self.pipeline.add(self.webrtc)

    def since_post(self) -> float:
        return round((time.monotonic() - self.posted_at) * 1000, 1)

    # --- The session ---

    def run(self) -> None:
        options = self.options
        # A data channel can be made from READY on.
        self.pipeline.set_state(Gst.State.READY)
        if not options.audio_only:
            self.add_receiver(VIDEO_CAPS[options.video_codec or "VP8"])
        if options.talk:
            self.add_talk()
        else:
            self.add_receiver(AUDIO_CAPS)
        if not options.no_data_channel:
            self.open_channel()
        if self.pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
            raise ViewerError(f"the pipeline does not start: {self.bus_error() or 'no reason given'}")
        offer = self.call("create-offer", None).get_value("offer")
        self.call("set-local-description", offer)
        if not self.wait(self.gathered, GATHERING_SECONDS):
            raise ViewerError(f"candidates were not gathered within {GATHERING_SECONDS} s")
        sdp = self.webrtc.get_property("local-description").sdp.as_text()
        if options.show_sdp:
            processes.log(sdp)
        self.posted_at = time.monotonic()
        answer = self.whep.post(sdp)
        self.posted_at = answer.posted_at
        self.result["whepStatus"] = answer.status
        self.result["timeToAnswerMs"] = round((answer.answered_at - answer.posted_at) * 1000, 1)
        if options.show_sdp:
            processes.log(answer.sdp)
        self.call("set-remote-description", self.description(viewing.keep_family(answer.sdp, options.media)))
        if not self.wait(self.media_flows, MEDIA_SECONDS):
            self.result["error"] = f"no media within {MEDIA_SECONDS} s; {states(self.webrtc)}"
            return
        self.wait(threading.Event(), options.duration)
        with self.lock:
            self.measuring = False
            ended = time.time() * 1000
        self.read_statistics()
        with self.lock:
            self.pictures.report(self.result, None if options.audio_only else ended)
            self.sound.report(self.result["audio"])

    def add_receiver(self, caps: str) -> None:
        direction = GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY
        transceiver = self.webrtc.emit("add-transceiver", direction, Gst.Caps.from_string(caps))
        # With it come a=rtcp-fb nack and, for video, a payload type for RTX (RFC 4588).
        transceiver.set_property("do-nack", "video" in caps)

    def add_talk(self) -> None:
        talk = Gst.parse_bin_from_description(TALK, True)
        self.pipeline.add(talk)
        sink = self.webrtc.request_pad_simple("sink_%u")
        talk.get_static_pad("src").link(sink)
        transceiver = sink.get_property("transceiver")
        transceiver.set_property("direction", GstWebRTC.WebRTCRTPTransceiverDirection.SENDRECV)
        transceiver.set_property("codec-preferences", Gst.Caps.from_string(AUDIO_CAPS))

    def call(self, signal: str, argument: Any) -> Any:
        promise = Gst.Promise.new()
        self.webrtc.emit(signal, argument, promise)
        if promise.wait() != Gst.PromiseResult.REPLIED:
            raise ViewerError(f"webrtcbin: {signal} was not done: {self.bus_error() or 'no reason given'}")
        reply = promise.get_reply()
        # What is read from a reply lives no longer than the reply does.
        self.replies.append(reply)
        if reply is not None and reply.has_field("error"):
            raise ViewerError(f"webrtcbin: {signal}: {reply.get_value('error')}")
        return reply

    @staticmethod
    def description(text: str) -> Any:
        status, message = GstSdp.SDPMessage.new_from_text(text)
        if status != GstSdp.SDPResult.OK:
            raise ViewerError(f"the answer is no SDP for GStreamer: {status.value_nick}")
        return GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Waits for the event, and no longer when the pipeline or the connection fails."""
        end = time.monotonic() + seconds
        while not event.wait(min(0.1, max(0.0, end - time.monotonic()))):
            error = self.bus_error()
            if error is not None:
                raise ViewerError(error)
            if time.monotonic() >= end or self.result["error"]:
                return False
        return True

    def bus_error(self) -> str | None:
        message = self.bus.pop_filtered(Gst.MessageType.ERROR)
        if message is None:
            return None
        error, detail = message.parse_error()
        processes.log(str(detail))
        return f"{message.src.get_name()}: {error.message}"

    # --- What webrtcbin reports, on its own threads ---

    def on_gathering(self, *_: Any) -> None:
        if self.webrtc.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self.gathered.set()

    def on_state(self, *_: Any) -> None:
        state = self.webrtc.get_property("connection-state")
        processes.log(f"connection: {state.value_nick}")
        with self.lock:
            if state == GstWebRTC.WebRTCPeerConnectionState.CONNECTED and not self.result["connected"]:
                self.result["connected"] = True
                self.result["timeToConnectedMs"] = self.since_post()
                self.connected.set()
            if state == GstWebRTC.WebRTCPeerConnectionState.FAILED and self.measuring:
                self.result["error"] = "connection failed"

    def on_pad(self, _: Any, pad: Any) -> None:
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        caps = pad.get_current_caps() or pad.query_caps(None)
        structure = caps.get_structure(0)
        kind, encoding = structure.get_string("media"), structure.get_string("encoding-name")
        if encoding not in DECODE:
            self.result["error"] = f"cannot decode {kind} {encoding}"
            return
        if kind == "video":
            self.result["codec"] = encoding
        decoder = Gst.parse_bin_from_description(DECODE[encoding], True)
        receive = self.receive_video if kind == "video" else self.receive_audio
        decoder.get_by_name("sink").connect("new-sample", receive)
        if kind == "video" and self.options.retransmit:
            self.ask_for_retransmission(structure.get_uint("ssrc")[1])
        if kind == "audio":
            pad.add_probe(Gst.PadProbeType.BUFFER, self.count_packet)
        self.pipeline.add(decoder)
        decoder.sync_state_with_parent()
        pad.link(decoder.get_static_pad("sink"))

    def on_element(self, _: Any, __: Any, element: Any) -> None:
        factory = element.get_factory()
        if factory is not None and factory.get_name() == "rtpjitterbuffer":
            self.jitter_buffers.append(element)

    def ask_for_retransmission(self, ssrc: int) -> None:
        # In 1.22 `do-nack` puts NACK and RTX into the offer, but does not reach the jitter buffer that would ask.
        for buffer in self.jitter_buffers:
            caps = buffer.get_static_pad("sink").get_current_caps()
            if caps is not None and caps.get_structure(0).get_uint("ssrc")[1] == ssrc:
                buffer.set_property("do-retransmission", True)

    def count_packet(self, _: Any, info: Any) -> Any:
        audio = self.result["audio"]
        audio["packets"] += 1
        number = int.from_bytes(info.get_buffer().extract_dup(2, 2), "big")
        if self.sound_number is not None:
            missing = (number - self.sound_number - 1) % 65536
            audio["missing"] = audio.get("missing", 0) + missing
            # The last of several can come from the copy that the next packet carries (RFC 6716 section 2.1.7).
            audio["missingWithoutCopy"] = audio.get("missingWithoutCopy", 0) + max(0, missing - 1)
        self.sound_number = number
        return Gst.PadProbeReturn.OK

    # --- The data channel ---

    def open_channel(self) -> None:
        settings = Gst.Structure.new_from_string(f"options,ordered=true,protocol=(string){viewing.CHANNEL_PROTOCOL}")
        self.channel = self.webrtc.emit("create-data-channel", viewing.CHANNEL_LABEL, settings)
        if self.channel is None:
            raise ViewerError("webrtcbin makes no data channel: its SCTP elements are missing")
        control = viewing.ControlChannel(self.result["dataChannel"])
        send: Callable[[str], Any] = lambda text: self.channel.emit("send-string", text)
        self.channel.connect("on-open", lambda *_: control.opened(send))
        self.channel.connect("on-message-string", lambda _, text: control.received(text))
        self.channel.connect("on-error", lambda _, error: processes.log(f"data channel: {error}"))

    # --- Media ---

    def receive_video(self, sink: Any) -> Any:
        sample = sink.emit("pull-sample")
        now = time.time() * 1000
        if sample is None:
            return Gst.FlowReturn.EOS
        info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
        buffer = sample.get_buffer()
        meta = GstVideo.buffer_get_video_meta(buffer)
        stride, offset = (meta.stride[0], meta.offset[0]) if meta is not None else (info.stride[0], info.offset[0])
        luma = buffer.extract_dup(offset, stride * info.height)
        with self.lock:
            if self.result["timeToFirstFrameMs"] is None:
                self.result["timeToFirstFrameMs"] = self.since_post()
            if self.measuring:
                self.pictures.add(now, luma, stride, info.width, info.height)
                self.last_sample = sample
        self.media_flows.set()
        return Gst.FlowReturn.OK

    def receive_audio(self, sink: Any) -> Any:
        sample = sink.emit("pull-sample")
        if sample is None:
            return Gst.FlowReturn.EOS
        buffer = sample.get_buffer()
        pcm = buffer.extract_dup(0, buffer.get_size())
        with self.lock:
            if self.measuring:
                self.sound.add(pcm)
        if self.options.audio_only:
            self.media_flows.set()
        return Gst.FlowReturn.OK

    # --- Afterwards ---

    def read_statistics(self) -> None:
        # Of webrtcbin's own statistics 1.22 has only the pair right: it says audio of every stream, gives all streams
        # one jitter buffer's numbers, and swaps the types of local and remote candidates.
        reply = self.call("get-stats", None)
        names = [reply.nth_field_name(index) for index in range(reply.n_fields())]
        for name in names:
            entry = reply.get_value(name)
            if entry.has_name("candidate-pair"):
                local = self.candidate(reply, entry.get_string("local-candidate-id"))
                remote = self.candidate(reply, entry.get_string("remote-candidate-id"))
                self.result["candidatePair"] = {"local": local, "remote": remote}
                self.result["ipFamily"] = viewing.ip_family(remote["address"])
        self.result["packetsLost"] = sum(self.counter(buffer, "num-lost") for buffer in self.jitter_buffers)
        self.result["retransmissions"] = {
            "asked": sum(self.counter(buffer, "rtx-count") for buffer in self.jitter_buffers),
            "came": sum(self.counter(buffer, "rtx-success-count") for buffer in self.jitter_buffers),
        }

    @staticmethod
    def candidate(reply: Any, name: str) -> dict[str, Any]:
        if not reply.has_field(name):
            return viewing.candidate(None, None, None)
        entry = reply.get_value(name)
        found = entry.get_string("address"), entry.get_uint("port")[1], entry.get_string("candidate-type")
        return viewing.candidate(*found)

    @staticmethod
    def counter(buffer: Any, name: str) -> int:
        return int(buffer.get_property("stats").get_uint64(name)[1])

    def save_screenshot(self) -> None:
        if self.last_sample is None:
            return
        rgb = GstVideo.video_convert_sample(self.last_sample, Gst.Caps.from_string("video/x-raw,format=RGB"), 5 * Gst.SECOND)
        info = GstVideo.VideoInfo.new_from_caps(rgb.get_caps())
        buffer = rgb.get_buffer()
        write_png(self.options.screenshot, buffer.extract_dup(0, buffer.get_size()), info.width, info.height, info.stride[0])

    def close(self) -> None:
        self.pipeline.set_state(Gst.State.NULL)


def watch(options: Any, result: dict[str, Any]) -> None:
    viewer = None
    try:
        viewer = Viewer(options, result)
        viewer.run()
        if options.screenshot:
            viewer.save_screenshot()
    except viewing.WhepError as error:
        result["whepStatus"], result["error"] = error.status, str(error)
    except ViewerError as error:
        result["error"] = result["error"] or str(error)
    if options.leave == "vanish":
        os._exit(viewing.finish(result, options.audio_only))
    if viewer is None:
        return
    try:
        viewer.whep.delete()
    except viewing.WhepError as error:
        result["error"] = result["error"] or str(error)
    viewer.close()


def main() -> int:
    parser = viewing.argument_parser("gstreamer")
    parser.add_argument("--latency", type=int, default=LATENCY_MS, help="of the jitter buffers, ms")
    parser.add_argument("--retransmit", action="store_true", help="ask for lost packets of the picture")
    parser.add_argument("--show-sdp", action="store_true", help="offer and answer on standard error")
    options = parser.parse_args()
    result = viewing.empty_result("gstreamer")
    viewing.last_deadline(result, options.duration + viewing.GRACE_SECONDS)
    Gst.init(None)
    watch(options, result)
    return viewing.finish(result, options.audio_only)


if __name__ == "__main__":
    sys.exit(main())
