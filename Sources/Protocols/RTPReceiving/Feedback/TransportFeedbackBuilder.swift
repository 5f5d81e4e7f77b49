import RTP
import Wire

/// Reports the arrival time of each packet of the transport to the sender, across all streams.
/// draft-holmer-rmcat-transport-wide-cc-extensions-01 sections 2 and 3.
struct TransportFeedbackBuilder: Sendable {
  private let senderSSRC: UInt32
  /// From the first unreported packet to the feedback, and how much longer it waits for one to arrive: half of that,
  /// precomputed because it is needed for every packet.
  private typealias Pace = (interval: Duration, patience: Duration)
  private let usual: Pace
  private let sparse: Pace
  /// Few packets come: on a narrow path a queue grows within one of them, and more reports of so few cost little.
  private var isSparse = false
  private var pace: Pace { isSparse ? sparse : usual }
  /// Packets in the feedback that is due.
  private var unreported = 0
  /// Arrival times in nanoseconds by transport-wide sequence number; `missing` for packets that have not arrived.
  private var arrivals = [Int64](repeating: missing, count: Int(capacity))
  private var highest: Int64?
  /// First sequence number of the next feedback.
  private var next: Int64 = 0
  private var mediaSSRC: UInt32 = 0
  private var feedbackCount: UInt8 = 0
  private var tooOld = 0
  /// From this time on, feedback is sent when a packet arrives; nil while there is nothing to report.
  private var due: Instant?
  /// When it is sent without one: late enough that it rarely needs its own wake-up.
  var nextDeadline: Instant? { due.map { $0 + pace.patience } }

  private static let missing = Int64.min
  /// 4 s at 500 packets a second; a power of two.
  private static let capacity: Int64 = 2048
  /// At most 2 bytes of status and 2 of delta each, which fits one datagram.
  private static let maximumStatuses = 400
  /// Fewer packets in an interval than this, and in a third of one.
  private static let few = 10
  private static let fewWhileSparse = 6
  /// After this many old packets in a row, the sender has restarted its numbering.
  private static let restartThreshold = 8

  init(senderSSRC: UInt32, interval: Duration) {
    self.senderSSRC = senderSSRC
    let interval = max(interval, .milliseconds(1))
    usual = (interval, interval / 2)
    sparse = (interval / 3, interval / 6)
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
      // A jump this large is a restart, not thousands of losses.
      guard sequence - highest < Self.capacity / 2 else { return begin(at: sequence, now: now) }
      for skipped in highest + 1..<sequence { arrivals[index(skipped)] = Self.missing }
      self.highest = sequence
      next = max(next, sequence - Self.capacity + 1)
    } else {
      guard arrivals[index(sequence)] == Self.missing, sequence > highest - Self.capacity else { return }
      // It may have been reported as lost: report it again, with those after it.
      next = min(next, sequence)
    }
    arrivals[index(sequence)] = now.nanoseconds
    expectFeedback(now: now)
  }

  private mutating func expectFeedback(now: Instant) {
    unreported += 1
    due = due ?? now + pace.interval
  }

  /// The feedback that is due at `now`; several packets if it does not fit one.
  mutating func takeDue(now: Instant) -> [RTCPTransportFeedback] {
    guard let due, due <= now, let highest else { return [] }
    self.due = nil
    isSparse = unreported < (isSparse ? Self.fewWhileSparse : Self.few)
    unreported = 0
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
    expectFeedback(now: now)
  }

  /// Builds one packet with as many statuses from `next` on as fit, and advances `next`. Nil if nothing has arrived
  /// from there on.
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
        // Deltas of 8 s and more do not fit: the rest gets its own reference time.
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
