import RTP
import Wire

/// Tells the sender when each packet of the transport came, whatever stream it belongs to.
/// draft-holmer-rmcat-transport-wide-cc-extensions-01 sections 2 and 3.
struct TransportFeedbackBuilder: Sendable {
  private let senderSSRC: UInt32
  private let interval: Duration
  /// Half of it, worked out once: it is asked for with every packet.
  private let patience: Duration
  /// Arrival times in nanoseconds by transport-wide sequence number; `missing` for those that did not come.
  private var arrivals = [Int64](repeating: missing, count: Int(capacity))
  private var highest: Int64?
  /// What the next feedback begins with.
  private var next: Int64 = 0
  private var mediaSSRC: UInt32 = 0
  private var feedbackCount: UInt8 = 0
  private var tooOld = 0
  /// From when on feedback leaves with the next packet that comes; nil while there is nothing to tell.
  private var due: Instant?
  /// When it leaves without one: so it seldom takes a wake-up of its own.
  var nextDeadline: Instant? { due.map { $0 + patience } }

  private static let missing = Int64.min
  /// 4 s at 500 packets a second; a power of two.
  private static let capacity: Int64 = 2048
  /// At most 2 bytes of status and 2 of delta each: one datagram.
  private static let maximumStatuses = 400
  /// So many packets from long ago, one after the other, and the sender has begun its count anew.
  private static let restartThreshold = 8

  init(senderSSRC: UInt32, interval: Duration) {
    self.senderSSRC = senderSSRC
    self.interval = max(interval, .milliseconds(1))
    patience = self.interval / 2
  }

  mutating func noteArrival(_ number: UInt16, mediaSSRC: UInt32, now: Instant) {
    self.mediaSSRC = mediaSSRC
    guard let highest else { return begin(at: Int64(number), now: now) }
    let sequence = highest + Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest)))
    if highest - sequence >= Self.capacity {
      tooOld += 1
      if tooOld >= Self.restartThreshold { begin(at: sequence, now: now) }
      return
    }
    tooOld = 0
    if sequence > highest {
      // A jump over everything that is kept is a new beginning, not thousands of losses.
      guard sequence - highest < Self.capacity / 2 else { return begin(at: sequence, now: now) }
      for skipped in highest + 1..<sequence { arrivals[index(skipped)] = Self.missing }
      self.highest = sequence
      next = max(next, sequence - Self.capacity + 1)
    } else {
      guard arrivals[index(sequence)] == Self.missing, sequence > highest - Self.capacity else { return }
      // Reported lost, perhaps; it is told again with those behind it.
      next = min(next, sequence)
    }
    arrivals[index(sequence)] = now.nanoseconds
    due = due ?? now + interval
  }

  /// The feedback that is due at `now`; several packets when one cannot hold it.
  mutating func takeDue(now: Instant) -> [RTCPTransportFeedback] {
    guard let due, due <= now, let highest else { return [] }
    self.due = nil
    var result: [RTCPTransportFeedback] = []
    while next <= highest {
      guard let feedback = build(through: highest) else { break }
      result.append(feedback)
    }
    next = highest + 1
    return result
  }

  private mutating func begin(at sequence: Int64, now: Instant) {
    arrivals = [Int64](repeating: Self.missing, count: Int(Self.capacity))
    highest = sequence
    next = sequence
    tooOld = 0
    arrivals[index(sequence)] = now.nanoseconds
    due = due ?? now + interval
  }

  /// As many as go into one packet from `next` on, which moves behind them. Nil when nothing came from there on.
  private mutating func build(through highest: Int64) -> RTCPTransportFeedback? {
    guard let first = (next...highest).first(where: { arrivals[index($0)] != Self.missing }) else { return nil }
    let reference = Self.floorDivide(arrivals[index(first)], RTCPTransportFeedback.referenceNanoseconds)
    // Ticks of 250 µs; 256 of them are one unit of the reference time.
    var ticks = reference &* 256
    var statuses: [RTCPTransportFeedback.PacketStatus] = []
    var sequence = next
    while sequence <= highest, statuses.count < Self.maximumStatuses {
      let arrival = arrivals[index(sequence)]
      if arrival == Self.missing {
        statuses.append(.notReceived)
      } else {
        let tick = Self.floorDivide(arrival, RTCPTransportFeedback.deltaNanoseconds)
        // 8 s and more do not fit the field: the rest gets a reference of its own.
        guard let delta = Int16(exactly: tick &- ticks) else { break }
        statuses.append(.received(delta: delta))
        ticks = tick
      }
      sequence += 1
    }
    defer {
      next = sequence
      feedbackCount &+= 1
    }
    return RTCPTransportFeedback(
      senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, baseSequenceNumber: UInt16(truncatingIfNeeded: next),
      referenceTime: UInt32(truncatingIfNeeded: reference) & 0xff_ffff, feedbackCount: feedbackCount,
      statuses: statuses)
  }

  private func index(_ sequence: Int64) -> Int { Int(sequence & (Self.capacity - 1)) }

  private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
