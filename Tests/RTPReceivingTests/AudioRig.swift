import TestSupport
import Wire

@testable import RTPReceiving

/// A sender of Opus, a path and a jitter buffer, in fake time.
struct AudioCall {
  struct Packet {
    var sequence: Int64
    var timestamp: UInt32
    var payload: [UInt8]
    var isRecovered = false
  }

  struct Played {
    var element: ReceivedAudio
    var at: Instant
    /// Milliseconds from capture on, for packets.
    var delay: Double?
  }

  var buffer: AudioJitterBuffer
  var now = Instant.zero
  var random: SeededGenerator
  private(set) var played: [Played] = []

  // The sender.
  var packetMilliseconds = 20
  var nextSequence: Int64 = 1000
  var nextTimestamp: UInt32 = 5000
  var nextCapture = Instant.zero
  var carriesCopies = false
  /// The sender's clock against ours: 1e-4 is 100 ppm fast.
  var drift = 0.0
  /// When the packets were taken, by the lower bits of their sequence numbers.
  private var captures = Array(repeating: Instant.zero, count: 4096)

  // The path: each packet's delay in milliseconds, nil for a loss.
  var path: (inout SeededGenerator, Instant) -> Double? = { _, _ in 10 }
  /// Milliseconds until a lost packet comes again.
  var retransmission: Double?
  /// A second copy of each packet, as some Wi-Fi gives.
  var duplicates = false
  private var underway: [(at: Instant, packet: Packet)] = []

  init(configuration: AudioJitterBufferConfiguration = AudioJitterBufferConfiguration(), seed: UInt64 = 1) {
    buffer = AudioJitterBuffer(configuration: configuration, clockRate: 48_000)
    random = SeededGenerator(seed: seed)
  }

  static func payload(milliseconds: Int, sequence: Int64, hasCopy: Bool) -> [UInt8] {
    // RFC 6716 table 2: SILK narrowband of 10, 20, 40 and 60 ms; VAD flags, then the LBRR flag.
    let configuration: UInt8 = milliseconds == 10 ? 0 : milliseconds == 20 ? 1 : milliseconds == 40 ? 2 : 3
    let frames = max(1, milliseconds / 20)
    let flags: UInt8 = hasCopy ? 1 << UInt8(7 - frames) : 0
    func byte(_ shift: Int64) -> UInt8 { UInt8(truncatingIfNeeded: sequence >> shift) }
    return [configuration << 3, flags, 0, byte(24), byte(16), byte(8), byte(0)]
  }

  static func sequence(of payload: [UInt8]) -> Int64 {
    payload.suffix(4).reduce(0) { $0 << 8 | Int64($1) }
  }

  /// The sender says nothing for a while; the timestamps go on, the sequence numbers do not.
  mutating func pause(milliseconds: Int) {
    nextTimestamp &+= UInt32(milliseconds * 48)
    nextCapture += .milliseconds(milliseconds)
  }

  /// The sender begins anew; what was underway belongs to the old stream.
  mutating func restart(sequence: Int64, timestamp: UInt32) {
    buffer.reset()
    underway = []
    nextSequence = sequence
    nextTimestamp = timestamp
  }

  mutating func run(for duration: Duration) {
    let end = now + duration
    while true {
      let deadline = buffer.nextDeadline ?? .distantFuture
      let arrival = underway.first?.at ?? .distantFuture
      let next = min(nextCapture, arrival, deadline)
      guard next <= end else { break }
      now = max(now, next)
      if next == arrival {
        let packet = underway.removeFirst().packet
        insert(packet)
      } else if next == nextCapture {
        send()
      } else {
        buffer.handleTimeout(now: now)
        drain()
      }
    }
    now = end
  }

  mutating func insert(_ packet: Packet) {
    buffer.insert(
      packet.payload, sequence: packet.sequence, timestamp: packet.timestamp, isRecovered: packet.isRecovered, now: now)
  }

  mutating func makePacket() -> Packet {
    let payload = Self.payload(milliseconds: packetMilliseconds, sequence: nextSequence, hasCopy: carriesCopies)
    let packet = Packet(sequence: nextSequence, timestamp: nextTimestamp, payload: payload)
    captures[Int(nextSequence & 4095)] = nextCapture
    nextSequence += 1
    nextTimestamp &+= UInt32(packetMilliseconds * 48)
    nextCapture += .nanoseconds(Int64(Double(packetMilliseconds) * 1e6 / (1 + drift)))
    return packet
  }

  private mutating func send() {
    let captured = nextCapture
    var packet = makePacket()
    guard let delay = path(&random, captured) else {
      guard let retransmission else { return }
      packet.isRecovered = true
      post(packet, after: retransmission, from: captured)
      return
    }
    post(packet, after: delay, from: captured)
    if duplicates { post(packet, after: delay + 3, from: captured) }
  }

  private mutating func post(_ packet: Packet, after milliseconds: Double, from start: Instant) {
    let at = start + .nanoseconds(Int64(milliseconds * 1e6))
    let index = underway.firstIndex { $0.at > at } ?? underway.count
    underway.insert((at, packet), at: index)
  }

  mutating func drain() {
    while let element = buffer.poll() {
      var delay: Double?
      if case .packet(let payload) = element.content {
        delay = (now - captures[Int(Self.sequence(of: payload) & 4095)]).inMilliseconds
      }
      played.append(Played(element: element, at: now, delay: delay))
    }
  }

  // MARK: What came of it

  mutating func forget() {
    played = []
  }

  var counters: AudioJitterCounters { buffer.counters }

  /// Of the samples handed out.
  var concealedShare: Double {
    share { $0 == .concealment || $0 == .silence }
  }

  func share(where isWanted: (ReceivedAudio.Content) -> Bool) -> Double {
    let all = played.reduce(0) { $0 + $1.element.samples }
    let wanted = played.reduce(0) { $0 + (isWanted($1.element.content) ? $1.element.samples : 0) }
    return all == 0 ? 0 : Double(wanted) / Double(all)
  }

  var sequences: [Int64] {
    played.compactMap {
      guard case .packet(let payload) = $0.element.content else { return nil }
      return Self.sequence(of: payload)
    }
  }

  /// Milliseconds from capture to playing.
  var meanDelay: Double {
    let delays = played.compactMap(\.delay)
    return delays.isEmpty ? 0 : delays.reduce(0, +) / Double(delays.count)
  }

  /// Whether each element was handed out when the one before was over, give or take what follows the sender's clock.
  var isWithoutHoles: Bool {
    zip(played, played.dropFirst()).allSatisfy { one, next in
      let length = Double(one.element.samples) / 48
      return abs((next.at - one.at).inMilliseconds - length) < 0.001 + length * 500e-6
    }
  }

  /// Packets come in the order of their sequence numbers, each once.
  var isInOrder: Bool {
    zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 }
  }
}

extension ReceivedAudio {
  var isCopy: Bool {
    if case .forwardErrorCorrection = content { return true }
    return false
  }
}
