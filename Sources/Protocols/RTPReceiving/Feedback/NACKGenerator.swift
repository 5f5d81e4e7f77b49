import RTP
import Wire

/// Which packets of one stream are missing, and when each is to be asked for: at once, and again while it does not
/// come. RFC 4585 section 6.2.1.
struct NACKGenerator: Sendable {
  private struct Missing: Sendable {
    var sequence: Int64
    var noticedAt: Instant
    /// Nil when it has been asked for often enough.
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
  /// `a=rtcp-fb: nack`; without it, what is missing is known all the same.
  private let isEnabled: Bool
  /// Retransmissions have an SSRC of their own, so nothing on the stream itself is one.
  private let usesRTX: Bool
  /// In order of their numbers.
  private var missing: [Missing] = []
  /// No later than the first request that is due.
  private var nextDue: Instant?
  private var reordering = ReorderingEstimate()
  /// Set when packets were forgotten because they did not come in time; the owner resets it.
  var hasGivenUp = false
  /// Of the path to the sender and back, smoothed.
  private(set) var roundTripTime: Duration
  /// The same, or more while the path seems to have got slower.
  private(set) var cautiousRoundTripTime: Duration
  private var answerTime: Duration
  /// How long the last answer took that tells the round-trip time.
  private var measuredRoundTrip: Duration?

  init(limits: Limits, isEnabled: Bool, usesRTX: Bool, roundTripTime: Duration) {
    self.limits = limits
    self.isEnabled = isEnabled
    self.usesRTX = usesRTX
    self.roundTripTime = roundTripTime
    cautiousRoundTripTime = roundTripTime
    answerTime = roundTripTime * 5 / 4
  }

  /// Takes what is known of the path to the sender and back; nothing changes before the first measurement.
  mutating func setRoundTripTime(_ estimate: RoundTripEstimate) {
    roundTripTime = estimate.smoothed ?? roundTripTime
    cautiousRoundTripTime = estimate.cautious ?? cautiousRoundTripTime
    answerTime = estimate.patience ?? answerTime
  }

  /// The round-trip time that an answer has shown since this was last called.
  mutating func takeMeasuredRoundTrip() -> Duration? {
    defer { measuredRoundTrip = nil }
    return measuredRoundTrip
  }

  /// A number a packet: what fits one RTCP packet however they are spread.
  static let maximumNumbersAtOnce = 250

  var count: Int { missing.count }

  /// Since when the first of the packets missing from `sequence` on has been known to be.
  func oldestNoticedAt(from sequence: Int64 = .min) -> Instant? {
    let index = index(of: sequence)
    return index < missing.count ? missing[index].noticedAt : nil
  }

  /// A request that is lost or answered by a lost packet is made again after this time.
  var requestInterval: Duration { max(limits.minimumInterval, answerTime) }

  /// Notes a gap. False when there are too many: then nothing is missing any more, and the stream has to begin anew.
  mutating func noteMissing(_ range: Range<Int64>, now: Instant) -> Bool {
    guard !range.isEmpty else { return true }
    forgetOld(now: now)
    guard missing.count + range.count <= limits.missingPackets else {
      removeAll()
      return false
    }
    let dueAt = isEnabled ? now + reordering.allowance(maximum: limits.reorderingAllowance) : nil
    // Gaps come in order; one that does not would break the search and is of no use any more.
    let first = missing.last.map { max(range.lowerBound, $0.sequence + 1) } ?? range.lowerBound
    guard first < range.upperBound else { return true }
    for sequence in first..<range.upperBound {
      missing.append(Missing(sequence: sequence, noticedAt: now, dueAt: dueAt))
    }
    if let dueAt { nextDue = min(nextDue ?? dueAt, dueAt) }
    return true
  }

  /// A packet came that was not the newest. True when it came because it was asked for.
  @discardableResult
  mutating func noteArrived(_ sequence: Int64, isRetransmission: Bool, now: Instant) -> Bool {
    let index = index(of: sequence)
    guard index < missing.count, missing[index].sequence == sequence else { return isRetransmission }
    let packet = missing.remove(at: index)
    if missing.isEmpty { nextDue = nil }
    var isAnswer = isRetransmission
    if !isRetransmission, !usesRTX, let first = packet.firstRequestedAt {
      // What comes sooner than an answer can was only late.
      isAnswer = now - first >= roundTripTime * 3 / 4
    }
    if isRetransmission, usesRTX { measure(packet, now: now) }
    if isAnswer { reordering.noteLost() } else { reordering.noteReordered(by: now - packet.noticedAt) }
    return isAnswer
  }

  /// RFC 6298 section 3 (Karn): only what was asked for once tells which request is answered. Of several, it is the first
  /// when the answer comes too soon for the last; without that, a path that got slower would hardly be measured.
  private mutating func measure(_ packet: Missing, now: Instant) {
    guard let first = packet.firstRequestedAt, let last = packet.lastRequestedAt else { return }
    guard packet.requests == 1 || now - last < roundTripTime / 2 else { return }
    measuredRoundTrip = now - first
  }

  /// Packets below `sequence` are of no use any more.
  mutating func release(below sequence: Int64) {
    guard let first = missing.first, first.sequence < sequence else { return }
    missing.removeFirst(index(of: sequence))
    if missing.isEmpty { nextDue = nil }
  }

  mutating func removeAll() {
    missing = []
    nextDue = nil
  }

  /// What is to be asked for now, in order; at most `maximumNumbersAtOnce`.
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

  /// When `takeDue` may have something; nil when nothing is to be asked for.
  var nextDeadline: Instant? { nextDue }

  private mutating func forgetOld(now: Instant) {
    guard let first = missing.first, now - first.noticedAt > limits.recoveryTime else { return }
    // Noticed in the order of their numbers.
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
