import RTP
import TestSupport
import Wire

/// RTP packets with their header extensions, and what the audio payload formats make of the payload.
enum RTPFuzz: FuzzBody {
  static let name = "RTP"

  private static let ids = RTPExtensionIDs(
    mid: 1, transportSequenceNumber: 2, absoluteSendTime: 3, absoluteCaptureTime: 4, playoutDelay: 5)

  static var seeds: [[UInt8]] {
    var extensions = RTPHeaderExtensions()
    extensions.mid = "0"
    extensions.transportSequenceNumber = 1
    extensions.absoluteSendTime = 2
    extensions.absoluteCaptureTime = AbsoluteCaptureTime(ntpTime: 3, clockOffset: 4)
    extensions.playoutDelay = PlayoutDelay.live
    let header = RTPHeader(
      payloadType: 96, sequenceNumber: 1, timestamp: 2, ssrc: 3, contributingSources: [4, 5])
    let redundant = RedundantAudio(
      redundant: [.init(payloadType: 111, timestampOffset: 960, data: [0xf8, 1, 2])], primaryPayloadType: 111,
      primary: [0xfb, 2, 3])
    return [
      Fixture.bytes("rtp-opus-ffmpeg.bin"), Array(Fixture.bytes("rtp-vp8-transport-cc-gstreamer.bin").prefix(60)),
      RTPPacket.write(header: header, extensions: extensions, ids: ids, payload: redundant.write()).bytes,
      Fixture.hex("b2e0ffff010203040a0b0c0d0000000100000002100000021002aabb00ff0300112233000003"),
    ]
  }

  static func run(_ input: [UInt8]) {
    _ = RTPDemultiplexing.isRTCP(input)
    guard let packet = try? RTPPacket(parsing: input) else { return }
    let extensions = packet.extensions(ids)
    _ = try? OpusPacketInfo(parsing: packet.payload)
    _ = (try? RedundantAudio(parsing: packet.payload))?.write()
    let again = try? RTPPacket(parsing: packet.write())
    precondition(again == packet, "what was read can be written and read")
    var header = packet.header
    header.extensionBlock = nil
    let (bytes, _) = RTPPacket.write(header: header, extensions: extensions, ids: ids, payload: Array(packet.payload))
    let rebuilt = try? RTPPacket(parsing: bytes)
    precondition(rebuilt?.payload == packet.payload, "extensions leave the payload alone")
  }
}
