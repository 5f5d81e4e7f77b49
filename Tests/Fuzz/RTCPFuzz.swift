import RTP
import RTPSending
import TestSupport
import Wire

/// Compound RTCP: parsed, written again, and given to a sender that has something to be asked for.
enum RTCPFuzz: FuzzBody {
  static let name = "RTCP"

  static var seeds: [[UInt8]] {
    [
      "rtcp-sr-ffmpeg.bin", "rtcp-sr-sdes-gstreamer.bin", "rtcp-rr-sdes-gstreamer.bin",
      "rtcp-transport-cc-run-gstreamer.bin", "rtcp-transport-cc-vector-gstreamer.bin", "rtcp-rr-sdes-aiortc.bin",
      "rtcp-sr-aiortc.bin", "rtcp-bye-aiortc.bin", "rtcp-nack-aiortc.bin", "rtcp-pli-aiortc.bin",
      "rtcp-remb-aiortc.bin", "rtcp-rr-rrtr-chromium.bin",
    ].map { Fixture.bytes($0) } + [
      RTCPPacket.write(compound: [
        .fullIntraRequest(RTCPFullIntraRequest(senderSSRC: 1, entries: [.init(ssrc: 587_284_409, sequenceNumber: 1)])),
        .transportFeedback(
          RTCPTransportFeedback(
            senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: 0, referenceTime: 5, feedbackCount: 0,
            statuses: [.received(delta: 5), .notReceived, .received(delta: -300)])),
      ]),
      RTCPPacket.write(compound: [
        .extendedReport(
          RTCPExtendedReport(
            ssrc: 1, receiverReferenceTime: 1 << 33,
            answers: [.init(ssrc: 2, lastReceiverReport: 3, delaySinceLastReceiverReport: 4)]))
      ]),
    ]
  }

  static func run(_ input: [UInt8]) {
    guard let packets = try? RTCPPacket.parse(compound: input) else { return }
    let again = try? RTCPPacket.parse(compound: RTCPPacket.write(compound: packets))
    if !packets.isEmpty, packets.allSatisfy(comesBack) {
      precondition(again == packets, "what was read can be written and read")
    }
    feed(packets)
  }

  /// Text that is no UTF-8 is read with replacements, which are longer.
  private static func comesBack(_ packet: RTCPPacket) -> Bool {
    switch packet {
    case .sourceDescription, .goodbye, .receiverEstimatedMaximumBitrate: false
    default: true
    }
  }

  private static func feed(_ packets: [RTCPPacket]) {
    var configuration = RTPSenderConfiguration()
    configuration.retransmissionCachePackets = 16
    var sender = RTPSender(
      configuration: configuration, wallClock: WallClockReference(instant: .zero, unixNanoseconds: 0),
      random: SeededGenerator(seed: 1))
    sender.addStream(
      RTPStreamConfiguration(
        ssrc: 587_284_409, kind: .video, payloadType: 96, clockRate: 90_000, cname: "c",
        extensionIDs: RTPExtensionIDs(transportSequenceNumber: 1), supportsNACK: true, supportsPLI: true,
        supportsTransportCC: true, supportsREMB: true, answersReferenceTime: true))
    for step in 0..<3 {
      let now = Instant.zero + .milliseconds(step * 40)
      sender.send(
        payloads: [[1], [2]], ssrc: 587_284_409, mediaTime: 0, captureTime: now, marksLast: true, now: now)
      while sender.poll(now: now) != nil {}
      sender.handle(rtcp: packets, now: now)
      sender.handleTimeout(now: now)
      while sender.poll(now: now) != nil {}
    }
  }
}
