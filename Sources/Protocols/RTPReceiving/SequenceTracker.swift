/// Extends the sequence numbers of one source to 64 bits and finds which packets are new. RFC 3550 appendix A.1.
///
/// There is no probation for a new source: SRTP has authenticated it.
struct SequenceTracker: Sendable {
  enum Verdict: Hashable, Sendable {
    /// Higher than all before; `missing` is the gap in between.
    case newest(Int64, missing: Range<Int64>)
    /// Fills a gap.
    case late(Int64)
    /// Already received.
    case duplicate
    /// So far off that it is only accepted after a second packet in sequence.
    case implausible
    /// That second packet: the sender has restarted. Extended numbers keep rising; the packet before this one is
    /// missing.
    case restarted(Int64)
  }

  /// RFC 3550 appendix A.1: MAX_DROPOUT.
  static let maximumDropout: Int64 = 3000
  /// How far back duplicates are detected: 4 s at 1000 packets per second, more than any sender keeps for
  /// retransmission.
  static let window: Int64 = 4096

  private(set) var highest: Int64?
  /// One bit for each of the last `window` numbers.
  private var received = [UInt64](repeating: 0, count: Int(window) / 64)
  private var expectedAfterJump: UInt16?

  mutating func receive(_ number: UInt16, isRetransmission: Bool = false) -> Verdict {
    guard let highest else {
      // A retransmission before the first packet cannot be placed.
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

  /// Marks a packet received as a copy, by its extended number; false if it is known or out of range.
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

  /// Within half the 16-bit range of `reference`. It would take 2^47 wraps to overflow.
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
