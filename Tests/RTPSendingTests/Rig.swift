import RTP
import RTPSending
import TestSupport
import Wire

let audioSSRC: UInt32 = 0xa0d10
let videoSSRC: UInt32 = 0x51de0
let rtxSSRC: UInt32 = 0x51de1
let peerSSRC: UInt32 = 0x9ee9

let extensionIDs = RTPExtensionIDs(
  mid: 1, transportSequenceNumber: 2, absoluteSendTime: 3, absoluteCaptureTime: 4, playoutDelay: 5)

extension Instant {
  static func milliseconds(_ value: Int) -> Instant { .zero + .milliseconds(value) }
}

/// Of the picture.
func mediaTime(at now: Instant) -> UInt32 { UInt32(truncatingIfNeeded: now.nanoseconds / 1000 * 9 / 100) }

/// A sender with one sound and one picture stream, and what came out of it.
struct Rig {
  var sender: RTPSender
  var packets: [(at: Instant, packet: RTPPacket, bytes: [UInt8])] = []
  var reports: [(at: Instant, packets: [RTCPPacket])] = []
  var keyFrameRequests: [Instant] = []
  var targets: [(at: Instant, kbps: Int)] = []

  init(
    configuration: RTPSenderConfiguration = .init(), rtx: Bool = true, transportCC: Bool = true, remb: Bool = false,
    redPayloadType: UInt8? = nil, answersReferenceTime: Bool = false, seed: UInt64 = 1
  ) {
    sender = RTPSender(
      configuration: configuration,
      wallClock: WallClockReference(instant: .zero, unixNanoseconds: 1_700_000_000_000_000_000),
      random: SeededGenerator(seed: seed))
    var ids = extensionIDs
    if !transportCC { ids.transportSequenceNumber = nil }
    sender.addStream(
      RTPStreamConfiguration(
        ssrc: audioSSRC, kind: .audio, payloadType: 111, clockRate: 48_000, redPayloadType: redPayloadType,
        cname: "cradle", mid: "0",
        extensionIDs: ids, supportsTransportCC: transportCC, supportsREMB: remb))
    sender.addStream(
      RTPStreamConfiguration(
        ssrc: videoSSRC, kind: .video, payloadType: 96, clockRate: 90_000, rtx: rtx ? (rtxSSRC, 97) : nil,
        cname: "cradle", mid: "1", extensionIDs: ids, supportsNACK: true, supportsPLI: true,
        supportsTransportCC: transportCC, supportsREMB: remb,
        answersReferenceTime: answersReferenceTime, playoutDelay: PlayoutDelay.live))
  }

  var video: [RTPPacket] { packets.map(\.packet).filter { $0.header.ssrc == videoSSRC } }
  var audio: [RTPPacket] { packets.map(\.packet).filter { $0.header.ssrc == audioSSRC } }
  var retransmissions: [RTPPacket] { packets.map(\.packet).filter { $0.header.ssrc == rtxSSRC } }

  mutating func sendVideo(
    packets count: Int = 5, size: Int = 1000, at now: Instant, layer: Int = 0, isKeyFrame: Bool = false,
    source: Int = 0
  ) {
    let payloads = (0..<count).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: size) }
    sendVideo(payloads: payloads, at: now, layer: layer, isKeyFrame: isKeyFrame, source: source)
  }

  mutating func sendVideo(
    payloads: [[UInt8]], at now: Instant, layer: Int = 0, isKeyFrame: Bool = false, source: Int = 0
  ) {
    sender.send(
      payloads: payloads, ssrc: videoSSRC, mediaTime: mediaTime(at: now),
      captureTime: now, marksLast: true, temporalLayer: layer, isKeyFrame: isKeyFrame,
      source: source, now: now)
  }

  mutating func sendAudio(size: Int = 80, at now: Instant) {
    sender.send(
      payloads: [[UInt8](repeating: 0xfc, count: size)], ssrc: audioSSRC,
      mediaTime: UInt32(truncatingIfNeeded: now.nanoseconds / 1000 * 48 / 1000), captureTime: now, marksLast: false,
      now: now)
  }

  /// Drains the sender; gives back how many RTP packets came.
  @discardableResult
  mutating func drain(at now: Instant) -> Int {
    var count = 0
    while let output = sender.poll(now: now) {
      switch output {
      case .rtp(let bytes):
        guard let packet = try? RTPPacket(parsing: bytes) else { preconditionFailure("a packet that is none") }
        packets.append((now, packet, bytes))
        count += 1
      case .rtcp(let bytes):
        guard let parsed = try? RTCPPacket.parse(compound: bytes) else { preconditionFailure("a report that is none") }
        reports.append((now, parsed))
      case .keyFrameRequested:
        keyFrameRequests.append(now)
      case .targetBitrateChanged(let kbps):
        targets.append((now, kbps))
      }
    }
    return count
  }

  /// Handles what is due up to `end`, as a shell does.
  mutating func run(until end: Instant) {
    var turns = 0
    while let deadline = sender.nextDeadline, deadline <= end {
      turns += 1
      precondition(turns < 100_000, "deadlines move on")
      sender.handleTimeout(now: deadline)
      drain(at: deadline)
    }
  }

  /// The peer reports that all of the picture has arrived.
  mutating func reportArrival(at now: Instant) {
    guard let last = video.last else { return }
    let block = RTCPReportBlock(
      ssrc: videoSSRC, extendedHighestSequenceNumber: UInt32(last.header.sequenceNumber))
    sender.handle(rtcp: [.receiverReport(RTCPReceiverReport(ssrc: peerSSRC, reportBlocks: [block]))], now: now)
    drain(at: now)
  }

  mutating func nack(_ numbers: [UInt16], at now: Instant) {
    sender.handle(
      rtcp: [.nack(RTCPNack(senderSSRC: peerSSRC, mediaSSRC: videoSSRC, lost: numbers))], now: now)
    drain(at: now)
  }
}
