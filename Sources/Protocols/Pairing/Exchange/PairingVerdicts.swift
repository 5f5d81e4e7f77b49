internal import Wire

/// Runs of which the child awaits the verdict. Bounded: the oldest gives way.
struct PairingVerdicts: Sendable {
  struct Run: Sendable {
    let session: [UInt8]
    /// The parent's pair record.
    let pair: String
    let proofs: [PairingVerdict: [UInt8]]
    let endsAt: Instant
  }

  static let maximumRuns = 16

  private var runs: [Run] = []

  mutating func add(_ run: Run) {
    if runs.count >= Self.maximumRuns { runs.removeFirst() }
    runs.append(run)
  }

  mutating func expire(now: Instant) {
    runs.removeAll { $0.endsAt <= now }
  }

  /// The pair that the verdict is about; nil if there is no such run or the proof is wrong. The same verdict may come twice:
  /// the first answer may have been lost.
  func pair(_ verdict: PairingVerdict, session: [UInt8], proof: [UInt8]) -> String? {
    guard let run = runs.first(where: { $0.session == session }), let expected = run.proofs[verdict],
      constantTimeEqual(expected, proof)
    else { return nil }
    return run.pair
  }
}
