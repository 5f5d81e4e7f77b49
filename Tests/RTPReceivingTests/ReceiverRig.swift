import RTP
import TestSupport
import Wire

@testable import RTPReceiving

let ourSSRC: UInt32 = 0x0e0e
let audioSSRC: UInt32 = 0xa0d10
let videoSSRC: UInt32 = 0x51de0
let rtxSSRC: UInt32 = 0x51de1

let negotiatedIDs = RTPExtensionIDs(mid: 1, transportSequenceNumber: 2, absoluteSendTime: 3)

extension Instant {
  static func milliseconds(_ value: Int) -> Instant { .zero + .milliseconds(value) }
}

extension RTPReceiveStreamConfiguration {
  static func video(rtx: Bool = true) -> Self {
    Self(
      kind: .video, payloadType: 96, clockRate: 90_000, rtxPayloadType: rtx ? 97 : nil, mid: "1",
      extensionIDs: negotiatedIDs, supportsNACK: true, supportsPLI: true, supportsFIR: true, supportsTransportCC: true,
      reducedSizeRTCP: true)
  }

  static func audio() -> Self {
    Self(
      kind: .audio, payloadType: 111, clockRate: 48_000, redPayloadType: 63, mid: "0", extensionIDs: negotiatedIDs,
      supportsTransportCC: true, reducedSizeRTCP: true)
  }
}

/// A VP8 frame as a sender cuts it: every packet with its descriptor.
struct TestFrame {
  var number: Int
  var isKeyFrame = false
  var packets = 3
  var descriptor = VP8PayloadDescriptor()

  /// What a decoder would get.
  var payload: [UInt8] { (0..<packets).flatMap(content) }

  func content(_ index: Int) -> [UInt8] {
    var bytes = (0..<20).map { UInt8(truncatingIfNeeded: number &* 31 &+ index &* 7 &+ $0) }
    // The inverse key-frame flag, RFC 6386 section 9.1.
    if index == 0 { bytes[0] = isKeyFrame ? 0 : 1 }
    bytes[1] = UInt8(truncatingIfNeeded: number >> 8)
    bytes[2] = UInt8(truncatingIfNeeded: number)
    return bytes
  }

  func rtpPayload(_ index: Int) -> [UInt8] {
    var descriptor = descriptor
    descriptor.startsPartition = index == 0
    var writer = ByteWriter()
    descriptor.write(to: &writer)
    writer.write(contentsOf: content(index))
    return writer.bytes
  }
}

/// A receiver, packets for it, and what came out of it.
struct ReceiverRig {
  var receiver: RTPReceiver
  var now = Instant.zero
  var frames: [(at: Instant, frame: ReceivedVideoFrame)] = []
  var sound: [(at: Instant, element: ReceivedAudio)] = []
  var reports: [(at: Instant, packets: [RTCPPacket])] = []
  var goodbyes: [RTPReceiveStreamConfiguration.Kind] = []

  /// Of the sender.
  var sequenceNumber: UInt16 = 1000
  var rtxSequenceNumber: UInt16 = 7
  var ssrc = videoSSRC
  var timestampOffset: UInt32 = 0

  init(
    video: RTPReceiveStreamConfiguration? = .video(), audio: RTPReceiveStreamConfiguration? = nil, roundTrip: Int = 20,
    configure: (inout RTPReceiverConfiguration) -> Void = { _ in }
  ) {
    var configuration = RTPReceiverConfiguration(senderSSRC: ourSSRC, cname: "us")
    configure(&configuration)
    receiver = RTPReceiver(configuration: configuration, random: SeededGenerator(seed: 5))
    if let audio { receiver.addStream(audio) }
    if let video { receiver.addStream(video) }
    receiver.noteRoundTripTime(.milliseconds(roundTrip))
  }

  var video: RTPInboundStatistics { receiver.statistics(now: now).last { $0.kind == .video }! }
  var audio: RTPInboundStatistics { receiver.statistics(now: now).first { $0.kind == .audio }! }
  /// The numbers that the frames handed out were made of.
  func frameNumbers(among candidates: [TestFrame]) -> [Int] {
    frames.map { received in candidates.first { $0.payload == received.frame.payload }?.number ?? -1 }
  }
  var nacks: [(at: Instant, numbers: [UInt16])] {
    reports.flatMap { report in
      report.packets.compactMap { packet in
        if case .nack(let nack) = packet { (report.at, nack.sequenceNumbers) } else { nil }
      }
    }
  }
  var keyFrameRequests: [Instant] {
    reports.flatMap { report in
      report.packets.compactMap { packet in
        switch packet {
        case .pictureLossIndication, .fullIntraRequest: report.at
        default: nil
        }
      }
    }
  }
  var feedback: [RTCPTransportFeedback] {
    reports.flatMap { report in
      report.packets.compactMap { packet in
        if case .transportFeedback(let feedback) = packet { feedback } else { nil }
      }
    }
  }

  /// The packets of a frame, whose sequence numbers are used up.
  mutating func packets(of frame: TestFrame) -> [RTPPacket] {
    (0..<frame.packets).map { index in
      defer { sequenceNumber &+= 1 }
      let header = RTPHeader(
        marker: index == frame.packets - 1, payloadType: 96, sequenceNumber: sequenceNumber,
        timestamp: timestampOffset &+ UInt32(frame.number) &* 3000, ssrc: ssrc)
      return RTPPacket(header: header, payload: frame.rtpPayload(index)[...])
    }
  }

  mutating func send(_ frame: TestFrame, except lost: Set<Int> = []) {
    for (index, packet) in packets(of: frame).enumerated() where !lost.contains(index) { receive(packet) }
  }

  mutating func receive(_ packet: RTPPacket) {
    receive(packet.write())
  }

  mutating func receive(_ bytes: [UInt8]) {
    receiver.handle(rtp: bytes, now: now)
    drain()
  }

  mutating func retransmit(_ packet: RTPPacket) {
    var header = packet.header
    let number = header.sequenceNumber
    header.ssrc = rtxSSRC
    header.payloadType = 97
    header.sequenceNumber = rtxSequenceNumber
    rtxSequenceNumber &+= 1
    receive(RTPPacket(header: header, payload: [UInt8(number >> 8), UInt8(number & 0xff)] + packet.payload))
  }

  mutating func drain() {
    while let output = receiver.poll(now: now) {
      switch output {
      case .rtcp(let bytes):
        guard let packets = try? RTCPPacket.parse(compound: bytes) else { preconditionFailure("a report that is none") }
        precondition(bytes.count <= 1200, "feedback fits a datagram")
        reports.append((now, packets))
      case .video(let frame): frames.append((now, frame))
      case .audio(let element): sound.append((now, element))
      case .goodbye(let kind): goodbyes.append(kind)
      }
    }
  }

  /// Lets time pass and handles what is due, as a shell does.
  mutating func run(for duration: Duration) {
    let end = now + duration
    var turns = 0
    while let deadline = receiver.nextDeadline, deadline <= end {
      turns += 1
      precondition(turns < 20_000, "deadlines move on")
      now = max(now, deadline)
      receiver.handleTimeout(now: now)
      drain()
    }
    now = end
  }
}
