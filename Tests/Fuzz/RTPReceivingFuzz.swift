import RTP
import RTPReceiving
import TestSupport
import Wire

/// Everything that a peer can send after SRTP, with time between: each step is a byte that says what comes and how much
/// time passes, a length and a packet.
enum RTPReceivingFuzz: FuzzBody {
  static let name = "RTP receiving"

  private static let ids = RTPExtensionIDs(mid: 1, transportSequenceNumber: 2, playoutDelay: 3)
  private static let ssrc: UInt32 = 5

  static var seeds: [[UInt8]] {
    var picture: [UInt8] = []
    for number: UInt16 in 0..<12 {
      picture += step(video(number: number, isKeyFrame: number == 0, layer: UInt8(number % 2)), wait: 3)
    }
    var lossy: [UInt8] = []
    for number: UInt16 in [65_533, 65_535, 1, 0, 3, 6] { lossy += step(video(number: number), wait: 6) }
    lossy += step(retransmission(of: 65_534), wait: 1) + step(retransmission(of: 2), wait: 4)
    var sound: [UInt8] = []
    for number: UInt16 in [0, 1, 2, 4, 5, 8] {
      let header = RTPHeader(payloadType: 111, sequenceNumber: number, timestamp: UInt32(number) * 960, ssrc: 9)
      sound += step(RTPPacket(header: header, payload: [0xf8, 1, 2]).write(), wait: 4)
    }
    let copies = RedundantAudio(
      redundant: [.init(payloadType: 111, timestampOffset: 960, data: [0xf8, 1])], primaryPayloadType: 111,
      primary: [0xf8, 2])
    let redundant = RTPHeader(payloadType: 63, sequenceNumber: 10, timestamp: 9600, ssrc: 9)
    sound += step(RTPPacket(header: redundant, payload: copies.write()[...]).write(), wait: 4)
    let reports = RTCPPacket.write(compound: [
      .senderReport(RTCPSenderReport(ssrc: ssrc, ntpTime: 1 << 63, rtpTimestamp: 3, packetCount: 1, octetCount: 1)),
      .sourceDescription(RTCPSourceDescription(chunks: [.init(ssrc: ssrc, cname: "a"), .init(ssrc: 9, cname: "a")])),
      .extendedReport(
        RTCPExtendedReport(
          ssrc: ssrc, answers: [.init(ssrc: 1, lastReceiverReport: 1 << 16, delaySinceLastReceiverReport: 1)])),
      .goodbye(RTCPGoodbye(sources: [ssrc])),
    ])
    return [
      picture, lossy, sound, picture + step(reports, wait: 7) + sound,
      step(Fixture.bytes("rtp-vp8-key-frame-ffmpeg.bin"), wait: 2)
        + step(Fixture.bytes("rtp-opus-ffmpeg.bin"), wait: 7),
    ]
  }

  private static func video(number: UInt16, isKeyFrame: Bool = false, layer: UInt8 = 0) -> [UInt8] {
    var writer = ByteWriter()
    VP8PayloadDescriptor(
      pictureID: .long(number & 0x7fff), tl0PictureIndex: UInt8(truncatingIfNeeded: number / 2),
      temporalLayer: .init(index: layer, isSync: layer > 0)
    ).write(to: &writer)
    writer.write(contentsOf: [isKeyFrame ? 0 : 1, 2, 3])
    var extensions = RTPHeaderExtensions()
    extensions.mid = "1"
    extensions.transportSequenceNumber = number
    extensions.playoutDelay = number % 4 == 0 ? .patient : nil
    let header = RTPHeader(
      marker: true, payloadType: 96, sequenceNumber: number, timestamp: UInt32(number) &* 3000, ssrc: ssrc)
    return RTPPacket.write(header: header, extensions: extensions, ids: ids, payload: writer.bytes).bytes
  }

  private static func retransmission(of number: UInt16) -> [UInt8] {
    let header = RTPHeader(marker: true, payloadType: 97, sequenceNumber: number, timestamp: UInt32(number), ssrc: 6)
    let original = [UInt8(number >> 8), UInt8(number & 0xff)]
    return RTPPacket(header: header, payload: (original + [0x90, 0x80, 1, 1, 2])[...]).write()
  }

  private static func step(_ packet: [UInt8], wait: UInt8) -> [UInt8] {
    [wait, UInt8(packet.count >> 8), UInt8(packet.count & 0xff)] + packet
  }

  /// Milliseconds that a step's lower three bits stand for.
  private static let waits = [0, 1, 5, 20, 33, 100, 700, 5000]

  static func run(_ input: [UInt8]) {
    var configuration = RTPReceiverConfiguration(senderSSRC: 1, cname: "us")
    configuration.maximumBufferedPackets = 64
    configuration.maximumBufferedBytes = 4000
    configuration.maximumWaitingFrames = 8
    configuration.maximumMissingPackets = 100
    var receiver = RTPReceiver(configuration: configuration, random: SeededGenerator(seed: 1))
    let hasNACK = input.count % 2 == 0
    receiver.addStream(
      RTPReceiveStreamConfiguration(
        kind: .audio, payloadType: 111, clockRate: 48_000, redPayloadType: 63, mid: "0", extensionIDs: ids,
        supportsNACK: hasNACK, supportsTransportCC: true))
    receiver.addStream(
      RTPReceiveStreamConfiguration(
        kind: .video, payloadType: 96, clockRate: 90_000, rtxPayloadType: input.count % 3 == 0 ? nil : 97, mid: "1",
        extensionIDs: ids, supportsNACK: hasNACK, supportsPLI: true, supportsTransportCC: true,
        supportsReferenceTime: true,
        reducedSizeRTCP: true))
    var now = Instant.zero
    var reader = ByteReader(input)
    var requests = 0
    while let kind = try? reader.readUInt8() {
      let end = now + .milliseconds(waits[Int(kind & 7)])
      if let length = try? reader.readUInt16() {
        let packet = Array((try? reader.readBytes(Int(length))) ?? reader.readRest())
        if RTPDemultiplexing.isRTCP(packet) {
          if let packets = try? RTCPPacket.parse(compound: packet) { receiver.handle(rtcp: packets, now: now) }
        } else {
          receiver.handle(rtp: packet, now: now)
        }
      }
      if kind & 0x80 != 0 { receiver.requestKeyFrame(decoderFailed: kind & 0x40 != 0, now: now) }
      if kind & 0x20 != 0 { receiver.setSteadyDelay(.milliseconds(Int(kind & 0xf) * 100)) }
      if kind & 0x10 != 0 { receiver.setSoundOutputDelay(.milliseconds(Int(kind & 7) * 30)) }
      if kind & 0x40 != 0 { receiver.noteRoundTripTime(.milliseconds(Int(kind))) }
      drain(&receiver, now: now, requests: &requests)
      var turns = 0
      while let deadline = receiver.nextDeadline, deadline <= end {
        turns += 1
        precondition(turns < 3000, "deadlines move on")
        now = max(now, deadline)
        receiver.handleTimeout(now: now)
        drain(&receiver, now: now, requests: &requests)
      }
      now = max(now, end)
      check(receiver, now: now)
    }
    precondition(requests <= Int(now.nanoseconds / 200_000_000) + 2, "key frames are not asked for all the time")
  }

  private static func drain(_ receiver: inout RTPReceiver, now: Instant, requests: inout Int) {
    var outputs = 0
    while let output = receiver.poll(now: now) {
      outputs += 1
      precondition(outputs < 700, "one packet must not cause outputs without end")
      switch output {
      case .rtcp(let bytes):
        precondition(bytes.count <= 1200, "feedback fits a datagram")
        guard let packets = try? RTCPPacket.parse(compound: bytes) else { preconditionFailure("feedback is RTCP") }
        for case .pictureLossIndication in packets { requests += 1 }
      case .video(let frame):
        precondition(!frame.payload.isEmpty, "a frame has bytes")
        _ = receiver.localCaptureTime(of: frame)
        _ = receiver.soundLag(of: frame, soundOutputDelay: .milliseconds(40), now: now)
        let hold = receiver.playoutHold(for: frame, now: now)
        precondition((Duration.zero...Duration.milliseconds(500)).contains(hold), "a hold is bounded")
      case .audio, .goodbye:
        break
      }
    }
  }

  private static func check(_ receiver: RTPReceiver, now: Instant) {
    let load = receiver.load
    precondition(load.missingPackets <= 200, "what is missing is bounded")
    precondition(load.waitingFrames <= 8 && load.bufferedBytes <= 4000, "what waits is bounded")
    _ = receiver.statistics(now: now)
  }
}
