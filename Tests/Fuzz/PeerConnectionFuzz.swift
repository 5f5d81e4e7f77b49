import PeerConnection
import SCTP
import SDP
import Simulation
import Wire

/// One end of a connection, fed with another's traffic, descriptions and candidates in any order while time goes on.
///
/// An input is a byte for the beginning (`Beginning`) and a row of steps: a command byte, two length bytes and that many
/// bytes. Nothing is encrypted and every hash is alike, so that changed bytes get as far as the layer that they are for.
enum PeerConnectionFuzz: FuzzBody {
  static let name = "peer connection"

  enum Command: UInt8, CaseIterable {
    /// A datagram from the peer, from somebody else, and as RTP or RTCP of the peer, or as SCTP inside its DTLS.
    case datagram, stranger, media, sctp
    case description, candidate, name, wait
    case frame, message, open, shut, restart, keyFrame, end
  }

  /// How far the two ends come by themselves before the steps.
  struct Beginning {
    enum Stage: UInt8 { case fresh, described, connected, streaming }
    var target: SimulatedPair.Side
    var stage: Stage
    /// Cut off, the target hears nothing but the steps.
    var isCut: Bool

    init(_ target: SimulatedPair.Side, _ stage: Stage, isCut: Bool) {
      (self.target, self.stage, self.isCut) = (target, stage, isCut)
    }

    init(byte: UInt8) {
      self.init(
        byte & 1 == 0 ? .child : .parent, Stage(rawValue: byte >> 1 & 3) ?? .fresh, isCut: byte & 8 != 0)
    }

    var byte: UInt8 { (target == .child ? 0 : 1) | stage.rawValue << 1 | (isCut ? 8 : 0) }

    func makePair() throws -> SimulatedPair {
      let pair = SimulatedPair(hashes: BlindHashes())
      pair.link.delay = .zero
      if stage.rawValue >= Stage.described.rawValue {
        let answer = try pair.child.answer(pair.parent.offer(wantsDataChannel: true, now: pair.now), now: pair.now)
        try pair.parent.accept(answer, now: pair.now)
        pair.drain()
      }
      if stage.rawValue >= Stage.connected.rawValue {
        pair.run(for: .milliseconds(60))
        precondition(pair.isConnected, "two ends of ours connect")
      }
      if stage == .streaming {
        _ = try pair.parent.openDataChannel(DataChannelParameters(label: "control"), now: pair.now)
        PeerConnectionFuzz.sendFrames(2, over: pair)
      }
      pair.link.isCut = isCut
      return pair
    }
  }

  private static let maximumSteps = 64
  private static let maximumOutputs = 5000

  /// Two ends, and which of them the steps are for.
  private struct Subject {
    let pair: SimulatedPair
    let side: SimulatedPair.Side

    var target: PeerConnection { side == .child ? pair.child : pair.parent }
  }

  /// In a row of inputs the first one's beginning counts, and the others go on from where it led.
  private static let subject = SharedSubject<Subject?>()

  static func run(_ input: [UInt8]) {
    guard let first = input.first else { return }
    subject.useInTurn {
      let beginning = Beginning(byte: first)
      return (try? beginning.makePair()).map { Subject(pair: $0, side: beginning.target) }
    } while: { subject in
      guard let subject else { return false }
      run(input.dropFirst(), on: subject)
      return !subject.pair.parent.state.isOver && !subject.pair.child.state.isOver
    } retire: { subject in
      guard let subject else { return }
      subject.pair.run(for: .seconds(2))
      check(subject.target, now: subject.pair.now)
      for end in [subject.pair.parent, subject.pair.child] {
        _ = end.statistics(now: subject.pair.now)
        end.close(now: subject.pair.now)
        subject.pair.drain()
        precondition(end.nextDeadline == nil && end.state.isOver, "what was closed waits for nothing")
      }
    }
  }

  private static func run(_ steps: ArraySlice<UInt8>, on subject: Subject) {
    var reader = ByteReader(steps)
    for _ in 0..<maximumSteps {
      guard let code = try? reader.readUInt8(), let length = try? reader.readUInt16() else { break }
      let bytes = Array((try? reader.readBytes(min(Int(length), reader.remaining))) ?? [])
      let before = subject.pair.outputCount
      perform(
        Command.allCases[Int(code) % Command.allCases.count], bytes, on: subject.target, subject.side, subject.pair)
      subject.pair.drain()
      precondition(subject.pair.outputCount - before < maximumOutputs, "one step must not cause outputs without end")
      check(subject.target, now: subject.pair.now)
    }
  }

  private static func perform(
    _ command: Command, _ bytes: [UInt8], on target: PeerConnection, _ side: SimulatedPair.Side, _ pair: SimulatedPair
  ) {
    let now = pair.now
    let first = bytes.first ?? 0
    switch command {
    case .datagram: pair.inject(bytes, to: side)
    case .stranger: pair.inject(bytes, to: side, from: TransportAddress(ip: .v4(0xc633_6401), port: 9))
    case .media: pair.inject(bytes + FakeSRTP.tag, to: side)
    case .sctp: pair.inject([23] + summed(bytes), to: side)
    case .description:
      guard let description = try? SessionDescription(parsing: String(decoding: bytes, as: UTF8.self)) else { break }
      if side == .child {
        _ = try? target.answer(description, now: now)
      } else {
        if target.state == .new { _ = try? target.offer(wantsDataChannel: true, now: now) }
        _ = try? target.accept(description, now: now)
      }
    case .candidate: target.addRemoteCandidate(String(decoding: bytes, as: UTF8.self), now: now)
    case .name:
      for case .resolve(let name) in side == .child ? pair.childEvents : pair.parentEvents {
        if let address = IPAddress(bytes: bytes) { target.addResolved(name: name, address: address, now: now) }
      }
    case .wait: pair.run(for: .milliseconds(Int64(first) * 10))
    case .frame:
      target.send(
        [bytes, [first]], kind: first & 1 == 0 ? .video : .audio, mediaTime: UInt32(first) << 24, captureTime: now,
        temporalLayer: Int(first >> 1 & 3), isKeyFrame: first & 8 != 0, now: now)
    case .message: try? target.send(.binary(bytes), on: UInt16(first & 3), now: now)
    case .open:
      _ = try? target.openDataChannel(
        DataChannelParameters(label: String(decoding: bytes, as: UTF8.self), isOrdered: first & 1 == 0), now: now)
    case .shut: target.closeDataChannel(UInt16(first & 3), now: now)
    case .restart:
      _ = try? target.restartICE(
        ufrag: "new\(first)", pwd: "0123456789012345678901", candidates: [String(decoding: bytes, as: UTF8.self)],
        now: now)
    case .keyFrame: target.requestKeyFrame(decoderFailed: true, now: now)
    case .end: target.close(now: now)
    }
  }

  /// With the checksum that SCTP wants (RFC 9260 section 6.8).
  private static func summed(_ packet: [UInt8]) -> [UInt8] {
    guard packet.count >= 12 else { return packet }
    var writer = ByteWriter(reservingCapacity: packet.count)
    writer.write(contentsOf: packet)
    writer.patch(UInt32(0), at: 8)
    writer.patch(CRC32C.checksum(writer.bytes).byteSwapped, at: 8)
    return writer.bytes
  }

  private static func check(_ target: PeerConnection, now: Instant) {
    if target.state.isOver { precondition(target.nextDeadline == nil, "what is over waits for nothing") }
    for _ in 0..<32 {
      guard let deadline = target.nextDeadline else { return }
      precondition(deadline - now < .seconds(600), "no timer is far off")
      guard deadline <= now else { return }
      target.handleTimeout(now: now)
    }
    preconditionFailure("what is due is done")
  }

  static func sendFrames(_ count: Int, over pair: SimulatedPair) {
    for number in 0..<count {
      // A VP8 payload descriptor and the first bytes of a key frame or of another one.
      let isKeyFrame = number == 0
      let picture: [UInt8] =
        [0x90, 0x80, UInt8(number)] + (isKeyFrame ? [0x10, 0, 0, 0x9d, 1, 0x2a, 64, 0, 48, 0, 9] : [0x31, 0, 0, 9])
      pair.child.send(
        [picture, [0x80, 0x80, UInt8(number), 7]], kind: .video, mediaTime: UInt32(number) * 3000,
        captureTime: pair.now, isKeyFrame: isKeyFrame, now: pair.now)
      pair.child.send(
        [[0x78, 1, 2, 3]], kind: .audio, mediaTime: UInt32(number) * 960, captureTime: pair.now, now: pair.now)
      pair.drain()
      pair.run(for: .milliseconds(33))
    }
  }
}
