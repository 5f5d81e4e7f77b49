import RTP
import RTPReceiving
import RTPSending
import TestSupport
import Wire

/// A path that loses, delays, reorders and repeats packets, in fake time.
struct BadPath {
  var delay = Duration.milliseconds(10)
  /// Probabilities, 0...1.
  var loss = 0.0
  var reordering = 0.0
  var duplication = 0.0
  /// What passes one behind the other; nil for no limit.
  var bitsPerSecond: Double?
  private var free = Instant.zero

  init(loss: Double = 0, reordering: Double = 0, duplication: Double = 0, bitsPerSecond: Double? = nil) {
    self.loss = loss
    self.reordering = reordering
    self.duplication = duplication
    self.bitsPerSecond = bitsPerSecond
  }

  mutating func arrivals(bytes: Int, at now: Instant, random: inout SeededGenerator) -> [Instant] {
    if Double.random(in: 0..<1, using: &random) < loss { return [] }
    var arrival = now + delay
    if let bitsPerSecond {
      free = max(free, now) + .nanoseconds(Int64(Double(bytes) * 8e9 / bitsPerSecond))
      arrival = free + delay
    }
    if Double.random(in: 0..<1, using: &random) < reordering {
      arrival += .microseconds(Int.random(in: 100...8000, using: &random))
    }
    guard Double.random(in: 0..<1, using: &random) < duplication else { return [arrival] }
    return [arrival, arrival + .microseconds(Int.random(in: 0...5000, using: &random))]
  }
}

/// Our own sender and our own receiver with a path between them that is as bad in both directions.
struct ReceivingCall {
  var sender: RTPSender
  var rig = ReceiverRig(audio: .audio())
  var path: BadPath
  var now = Instant.zero
  /// What was encoded, by timestamp as the receiver sees it.
  private(set) var sent: [(frame: [UInt8], at: Instant)] = []
  private(set) var keyFrameRequests: [Instant] = []
  private(set) var targetKbps = 1500
  var temporalLayers = 1
  /// kbit/s of video; nil for as much as the sender says.
  var videoKbps: Int?
  var keyFrameBytes = 20_000
  /// Added to the sequence numbers and timestamps of the picture, so that they wrap while the call lasts.
  var sequenceShift: UInt16 = 0
  var timestampShift: UInt32 = 0

  private enum Datagram { case rtp([UInt8]), rtcp([UInt8]), back([UInt8]) }
  private var underWay: [(at: Instant, order: Int, datagram: Datagram)] = []
  private var order = 0
  private var packetizer = VP8Packetizer(pictureID: 32_700, tl0PictureIndex: 200)
  private var random: SeededGenerator
  private var needsKeyFrame = true
  private var step = 0
  private var reportsHandled = 0

  init(path: BadPath, seed: UInt64 = 1) {
    self.path = path
    random = SeededGenerator(seed: seed)
    sender = RTPSender(
      wallClock: WallClockReference(instant: .zero, unixNanoseconds: 1_700_000_000_000_000_000),
      random: SeededGenerator(seed: seed))
    sender.addStream(
      RTPStreamConfiguration(
        ssrc: audioSSRC, kind: .audio, payloadType: 111, clockRate: 48_000, cname: "cradle", mid: "0",
        extensionIDs: negotiatedIDs, supportsTransportCC: true))
    sender.addStream(
      RTPStreamConfiguration(
        ssrc: videoSSRC, kind: .video, payloadType: 96, clockRate: 90_000, rtx: (rtxSSRC, 97), cname: "cradle",
        mid: "1", extensionIDs: negotiatedIDs, supportsNACK: true, supportsPLI: true, supportsTransportCC: true))
  }

  /// Video goes out for `duration`; then the path gets a while to come to rest.
  mutating func run(for duration: Duration, each body: (inout ReceivingCall) -> Void = { _ in }) {
    let end = now + duration
    let rest = end + .milliseconds(800)
    while now < rest {
      body(&self)
      tick(capturing: now < end)
      now += .milliseconds(1)
      step += 1
    }
  }

  private mutating func tick(capturing: Bool) {
    if let deadline = sender.nextDeadline, deadline <= now { sender.handleTimeout(now: now) }
    if capturing, step % 20 == 0 { capturePacket() }
    if capturing, step % 33 == 0 { captureFrame() }
    drainSender()
    rig.now = now
    if let deadline = rig.receiver.nextDeadline, deadline <= now {
      rig.receiver.handleTimeout(now: now)
      rig.drain()
    }
    deliver()
    sendReports()
  }

  private mutating func capturePacket() {
    sender.send(
      payloads: [[0xf8] + [UInt8](repeating: UInt8(truncatingIfNeeded: step), count: 80)], ssrc: audioSSRC,
      mediaTime: UInt32(step * 48), captureTime: now, marksLast: false, now: now)
  }

  private mutating func captureFrame() {
    let kbps = videoKbps ?? max(60, targetKbps - 60)
    let count = needsKeyFrame ? keyFrameBytes : kbps * 33 / 8
    var frame = [UInt8](repeating: UInt8(truncatingIfNeeded: sent.count), count: max(count, 16))
    for position in stride(from: 0, to: frame.count, by: 100) { frame[position] = UInt8(position / 100 & 0xff) }
    frame.replaceSubrange(0..<3, with: [needsKeyFrame ? 0 : 1, UInt8(sent.count >> 8), UInt8(sent.count & 0xff)])
    let layer = needsKeyFrame ? 0 : sent.count % temporalLayers
    let payloads = packetizer.packetize(
      frame, isKeyFrame: needsKeyFrame, temporalLayer: layer, isLayerSync: layer > 0, isDiscardable: layer > 0,
      maximumPayloadSize: 1100)
    sender.send(
      payloads: payloads, ssrc: videoSSRC, mediaTime: UInt32(step * 90), captureTime: now, marksLast: true,
      temporalLayer: layer, isKeyFrame: needsKeyFrame, now: now)
    needsKeyFrame = false
    sent.append((frame, now))
  }

  private mutating func drainSender() {
    while let output = sender.poll(now: now) {
      switch output {
      case .rtp(let bytes): transmit(.rtp(shift(bytes)), bytes: bytes.count)
      case .rtcp(let bytes): transmit(.rtcp(bytes), bytes: bytes.count)
      case .keyFrameRequested:
        needsKeyFrame = true
        keyFrameRequests.append(now)
      case .targetBitrateChanged(let kbps): targetKbps = kbps
      }
    }
  }

  private mutating func transmit(_ datagram: Datagram, bytes: Int) {
    for arrival in path.arrivals(bytes: bytes, at: now, random: &random) {
      underWay.append((arrival, order, datagram))
      order += 1
    }
  }

  private mutating func deliver() {
    let due = underWay.filter { $0.at <= now }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
    underWay.removeAll { $0.at <= now }
    for (_, _, datagram) in due {
      switch datagram {
      case .rtp(let bytes):
        rig.receive(bytes)
      case .rtcp(let bytes):
        guard let packets = try? RTCPPacket.parse(compound: bytes) else { preconditionFailure("RTCP that is none") }
        rig.receiver.handle(rtcp: packets, now: now)
        rig.drain()
      case .back(let bytes):
        guard let packets = try? RTCPPacket.parse(compound: bytes) else { preconditionFailure("RTCP that is none") }
        sender.handle(rtcp: packets.map(unshift), now: now)
      }
    }
  }

  private mutating func sendReports() {
    for report in rig.reports[reportsHandled...] {
      let bytes = RTCPPacket.write(compound: report.packets)
      // The way back is not narrow.
      var way = path
      way.bitsPerSecond = nil
      for arrival in way.arrivals(bytes: bytes.count, at: now, random: &random) {
        underWay.append((arrival, order, .back(bytes)))
        order += 1
      }
    }
    reportsHandled = rig.reports.count
  }

  private func shift(_ bytes: [UInt8]) -> [UInt8] {
    guard var packet = try? RTPPacket(parsing: bytes) else { preconditionFailure("a packet that is none") }
    switch packet.header.ssrc {
    case videoSSRC:
      packet.header.sequenceNumber &+= sequenceShift
    case rtxSSRC:
      let original = packet.payload.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) } &+ sequenceShift
      packet.payload = [UInt8(original >> 8), UInt8(original & 0xff)] + packet.payload.dropFirst(2)
    default:
      return bytes
    }
    packet.header.timestamp &+= timestampShift
    return packet.write()
  }

  private func unshift(_ packet: RTCPPacket) -> RTCPPacket {
    guard case .nack(var nack) = packet else { return packet }
    for index in nack.items.indices { nack.items[index].sequenceNumber &-= sequenceShift }
    return .nack(nack)
  }
}
