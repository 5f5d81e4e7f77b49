/// Extends the sequence numbers of one source to 64 bits and tells which packets are new. RFC 3550 appendix A.1.
///
/// There is no probation for a new source: SRTP has authenticated it.
struct SequenceTracker: Sendable {
  enum Verdict: Hashable, Sendable {
    /// Beyond all before it; `missing` is what was left out.
    case newest(Int64, missing: Range<Int64>)
    /// Fills a gap.
    case late(Int64)
    /// Came already.
    case duplicate
    /// So far off that it takes a second one in sequence to be believed.
    case implausible
    /// The second one: the sender begins anew. The numbers go on rising; the one before is missing.
    case restarted(Int64)
  }

  /// RFC 3550 appendix A.1: MAX_DROPOUT.
  static let maximumDropout: Int64 = 3000
  /// How far back a packet can be told from one that came: 4 s of 1000 packets a second, more than any sender keeps for
  /// retransmission.
  static let window: Int64 = 4096

  private(set) var highest: Int64?
  /// One bit for each of the last `window` numbers.
  private var received = [UInt64](repeating: 0, count: Int(window) / 64)
  private var expectedAfterJump: UInt16?

  mutating func receive(_ number: UInt16, isRetransmission: Bool = false) -> Verdict {
    guard let highest else {
      // A retransmission of what was never begun has no place.
      guard !isRetransmission else { return .implausible }
      let sequence = Int64(number)
      self.highest = sequence
      mark(sequence)
      return .newest(sequence, missing: sequence..<sequence)
    }
    let sequence = extend(number, near: highest)
    guard sequence - highest <= Self.maximumDropout, highest - sequence < Self.window else {
      return isRetransmission ? .implausible : jump(to: number, from: highest)
    }
    if sequence > highest {
      if !isRetransmission { expectedAfterJump = nil }
      for skipped in highest + 1..<sequence { clear(skipped) }
      mark(sequence)
      self.highest = sequence
      return .newest(sequence, missing: highest + 1..<sequence)
    }
    guard !isMarked(sequence) else { return .duplicate }
    mark(sequence)
    return .late(sequence)
  }

  /// Notes one that came in another way, by its extended number; false when it is known or out of reach.
  mutating func receiveCopy(_ sequence: Int64) -> Bool {
    guard let highest, sequence < highest, highest - sequence < Self.window, !isMarked(sequence) else { return false }
    mark(sequence)
    return true
  }

  private mutating func jump(to number: UInt16, from highest: Int64) -> Verdict {
    guard number == expectedAfterJump else {
      expectedAfterJump = number &+ 1
      return .implausible
    }
    expectedAfterJump = nil
    received = [UInt64](repeating: 0, count: received.count)
    let sequence = highest + Int64(number &- UInt16(truncatingIfNeeded: highest))
    mark(sequence)
    self.highest = sequence
    return .restarted(sequence)
  }

  /// At most half a circle away. 2^47 circles fit before this could overflow.
  private func extend(_ number: UInt16, near reference: Int64) -> Int64 {
    reference + Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: reference)))
  }

  private func place(_ sequence: Int64) -> (word: Int, bit: UInt64) {
    let index = UInt64(bitPattern: sequence) & UInt64(Self.window - 1)
    return (Int(index >> 6), 1 << (index & 63))
  }

  private func isMarked(_ sequence: Int64) -> Bool {
    let (word, bit) = place(sequence)
    return received[word] & bit != 0
  }

  private mutating func mark(_ sequence: Int64) {
    let (word, bit) = place(sequence)
    received[word] |= bit
  }

  private mutating func clear(_ sequence: Int64) {
    let (word, bit) = place(sequence)
    received[word] &= ~bit
  }
}
