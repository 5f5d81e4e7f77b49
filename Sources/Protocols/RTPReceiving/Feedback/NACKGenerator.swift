import RTP
import Wire

/// Tracks the missing packets of one stream and when to request each: at once, and again until it arrives. RFC 4585
/// section 6.2.1.
struct NACKGenerator: Sendable {
  private struct Missing: Sendable {
    var sequence: Int64
    var noticedAt: Instant
    /// Nil when it is not to be requested, or not any more.
    var dueAt: Instant?
    var firstRequestedAt: Instant?
    var lastRequestedAt: Instant?
    var requests = 0
  }

  struct Limits: Sendable {
    var missingPackets: Int
    var requestsPerPacket: Int
    var minimumInterval: Duration
    var recoveryTime: Duration
    var reorderingAllowance: Duration
  }

  private let limits: Limits
  /// `a=rtcp-fb: nack`; missing packets are tracked even without it.
  private let isEnabled: Bool
  /// Retransmissions have their own SSRC, so no packet on the stream itself is one.
  private let usesRTX: Bool
  /// Sorted by sequence number.
  private var missing: [Missing] = []
  /// Lower bound for the next request that is due.
  private var nextDue: Instant?
  private var reordering = ReorderingEstimate()
  /// Set when packets were given up because they did not arrive in time; the owner resets it.
  var hasGivenUp = false
  /// Smoothed round-trip time to the sender.
  private(set) var roundTripTime: Duration
  /// The same, or more while the path appears to have slowed down.
  private(set) var cautiousRoundTripTime: Duration
  private var answerTime: Duration
  /// Round-trip time measured from the last unambiguous retransmission.
  private var measuredRoundTrip: Duration?

  init(limits: Limits, isEnabled: Bool, usesRTX: Bool, roundTripTime: Duration) {
    self.limits = limits
    self.isEnabled = isEnabled
    self.usesRTX = usesRTX
    self.roundTripTime = roundTripTime
    cautiousRoundTripTime = roundTripTime
    answerTime = roundTripTime * 5 / 4
  }

  /// Updates the round-trip times; no effect before the first measurement.
  mutating func setRoundTripTime(_ estimate: RoundTripEstimate) {
    roundTripTime = estimate.smoothed ?? roundTripTime
    cautiousRoundTripTime = estimate.cautious ?? cautiousRoundTripTime
    answerTime = estimate.patience ?? answerTime
  }

  /// The round-trip time measured from a retransmission since the last call.
  mutating func takeMeasuredRoundTrip() -> Duration? {
    defer { measuredRoundTrip = nil }
    return measuredRoundTrip
  }

  /// Fits one RTCP packet, however the sequence numbers are spread.
  static let maximumNumbersAtOnce = 250

  var count: Int { missing.count }

  /// When the first packet missing from `sequence` on was noticed.
  func oldestNoticedAt(from sequence: Int64 = .min) -> Instant? {
    let index = index(of: sequence)
    return index < missing.count ? missing[index].noticedAt : nil
  }

  /// A request is repeated after this time, in case it or the retransmission was lost.
  var requestInterval: Duration { max(limits.minimumInterval, answerTime) }

  /// Records a gap. False when too many packets are missing: all are then forgotten, and the stream has to start over.
  mutating func noteMissing(_ range: Range<Int64>, now: Instant) -> Bool {
    guard !range.isEmpty else { return true }
    forgetOld(now: now)
    guard missing.count + range.count <= limits.missingPackets else {
      removeAll()
      return false
    }
    let dueAt = isEnabled ? now + reordering.allowance(maximum: limits.reorderingAllowance) : nil
    // Gaps arrive in order; one that does not would break the search and is no longer useful.
    let first = missing.last.map { max(range.lowerBound, $0.sequence + 1) } ?? range.lowerBound
    guard first < range.upperBound else { return true }
    for sequence in first..<range.upperBound {
      missing.append(Missing(sequence: sequence, noticedAt: now, dueAt: dueAt))
    }
    if let dueAt { nextDue = min(nextDue ?? dueAt, dueAt) }
    return true
  }

  /// A packet other than the newest has arrived. True if it arrived because it was requested.
  @discardableResult
  mutating func noteArrived(_ sequence: Int64, isRetransmission: Bool, now: Instant) -> Bool {
    let index = index(of: sequence)
    guard index < missing.count, missing[index].sequence == sequence else { return isRetransmission }
    let packet = missing.remove(at: index)
    if missing.isEmpty { nextDue = nil }
    var isAnswer = isRetransmission
    if !isRetransmission, !usesRTX, let first = packet.firstRequestedAt {
      // Earlier than a response is possible, it was only late.
      isAnswer = now - first >= roundTripTime * 3 / 4
    }
    if isRetransmission, usesRTX { measure(packet, now: now) }
    if isAnswer { reordering.noteLost() } else { reordering.noteReordered(by: now - packet.noticedAt) }
    return isAnswer
  }

  /// RFC 6298 section 3 (Karn): only a packet requested once shows which request was answered. With several requests,
  /// it was the first if the response comes too soon after the last; without this rule, a path that slowed down would
  /// hardly be measured.
  private mutating func measure(_ packet: Missing, now: Instant) {
    guard let first = packet.firstRequestedAt, let last = packet.lastRequestedAt else { return }
    guard packet.requests == 1 || now - last < roundTripTime / 2 else { return }
    measuredRoundTrip = now - first
  }

  /// Forgets packets below `sequence`, which are no longer needed.
  mutating func release(below sequence: Int64) {
    guard let first = missing.first, first.sequence < sequence else { return }
    missing.removeFirst(index(of: sequence))
    if missing.isEmpty { nextDue = nil }
  }

  mutating func removeAll() {
    missing = []
    nextDue = nil
  }

  /// Sequence numbers to request now, in order; at most `maximumNumbersAtOnce`.
  mutating func takeDue(now: Instant) -> [UInt16] {
    guard let due = nextDue, due <= now else { return [] }
    forgetOld(now: now)
    nextDue = nil
    var numbers: [UInt16] = []
    let again = now + requestInterval
    for index in missing.indices {
      guard let dueAt = missing[index].dueAt else { continue }
      if dueAt <= now, numbers.count < Self.maximumNumbersAtOnce {
        numbers.append(UInt16(truncatingIfNeeded: missing[index].sequence))
        missing[index].requests += 1
        missing[index].firstRequestedAt = missing[index].firstRequestedAt ?? now
        missing[index].lastRequestedAt = now
        missing[index].dueAt = missing[index].requests < limits.requestsPerPacket ? again : nil
      }
      if let dueAt = missing[index].dueAt { nextDue = min(nextDue ?? dueAt, dueAt) }
    }
    return numbers
  }

  /// When `takeDue` may return something; nil when there is nothing to request.
  var nextDeadline: Instant? { nextDue }

  private mutating func forgetOld(now: Instant) {
    guard let first = missing.first, now - first.noticedAt > limits.recoveryTime else { return }
    // Packets are noticed in order of sequence number.
    let kept = missing.firstIndex { now - $0.noticedAt <= limits.recoveryTime } ?? missing.count
    missing.removeFirst(kept)
    hasGivenUp = true
    if missing.isEmpty { nextDue = nil }
  }

  /// Where `sequence` is or would be.
  private func index(of sequence: Int64) -> Int {
    var low = 0
    var high = missing.count
    while low < high {
      let middle = (low + high) / 2
      if missing[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
