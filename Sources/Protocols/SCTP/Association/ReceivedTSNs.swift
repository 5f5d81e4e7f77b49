/// The TSNs that have arrived, unwrapped so that 2^32 needs no special handling.
struct ReceivedTSNs: Sendable {
  enum Arrival: Hashable, Sendable {
    case new
    case duplicate
    /// Too far ahead, or one gap too many: the peer will retransmit it.
    case refused
  }

  /// Everything up to here has arrived or was abandoned.
  private(set) var cumulative: Int64
  /// The ranges that arrived beyond it, ascending, with gaps in between.
  private(set) var gaps: [ClosedRange<Int64>] = []
  private var duplicates: [UInt32] = []

  /// The offset of a gap block has 16 bits (RFC 9260 section 3.3.4).
  private static let maximumDistance: Int64 = 65535
  /// As many as one SACK can report.
  private static let maximumGaps = 256
  private static let maximumDuplicates = 16

  init(initialTSN: UInt32) {
    cumulative = Int64(initialTSN) - 1
  }

  var cumulativeTSN: UInt32 { UInt32(truncatingIfNeeded: cumulative) }

  func unwrap(_ tsn: UInt32) -> Int64 {
    cumulative + Int64(Int32(bitPattern: tsn &- cumulativeTSN))
  }

  func arrival(of tsn: Int64) -> Arrival {
    if tsn <= cumulative { return .duplicate }
    if tsn == cumulative + 1 { return .new }
    guard tsn - cumulative <= Self.maximumDistance else { return .refused }
    let index = firstGap(endingAtOrAfter: tsn - 1)
    guard index < gaps.count else { return gaps.count < Self.maximumGaps ? .new : .refused }
    if gaps[index].contains(tsn) { return .duplicate }
    let touches = gaps[index].upperBound == tsn - 1 || gaps[index].lowerBound == tsn + 1
    return touches || gaps.count < Self.maximumGaps ? .new : .refused
  }

  /// Records a TSN whose arrival is `new`.
  mutating func insert(_ tsn: Int64) {
    if tsn == cumulative + 1 {
      cumulative = tsn
      absorbFirstGap()
      return
    }
    let index = firstGap(endingAtOrAfter: tsn - 1)
    guard index < gaps.count else {
      gaps.append(tsn...tsn)
      return
    }
    if gaps[index].upperBound == tsn - 1 {
      if index + 1 < gaps.count, gaps[index + 1].lowerBound == tsn + 1 {
        gaps[index] = gaps[index].lowerBound...gaps[index + 1].upperBound
        gaps.remove(at: index + 1)
      } else {
        gaps[index] = gaps[index].lowerBound...tsn
      }
    } else if gaps[index].lowerBound == tsn + 1 {
      gaps[index] = tsn...gaps[index].upperBound
    } else {
      gaps.insert(tsn...tsn, at: index)
    }
  }

  mutating func noteDuplicate(_ tsn: UInt32) {
    if duplicates.count < Self.maximumDuplicates { duplicates.append(tsn) }
  }

  mutating func takeDuplicates() -> [UInt32] {
    defer { duplicates = [] }
    return duplicates
  }

  /// FORWARD TSN: stops waiting for anything up to `tsn`. RFC 3758 section 3.6.
  mutating func forward(to tsn: Int64) {
    guard tsn > cumulative else { return }
    cumulative = tsn
    gaps.removeAll { $0.upperBound <= tsn }
    if let first = gaps.first, first.lowerBound <= tsn { gaps[0] = tsn + 1...first.upperBound }
    absorbFirstGap()
  }

  /// In the form that SACK carries.
  func gapBlocks(limit: Int) -> [SackChunk.GapBlock] {
    gaps.prefix(max(0, limit)).map {
      SackChunk.GapBlock(
        start: UInt16(truncatingIfNeeded: $0.lowerBound - cumulative),
        end: UInt16(truncatingIfNeeded: $0.upperBound - cumulative))
    }
  }

  private mutating func absorbFirstGap() {
    guard let first = gaps.first, first.lowerBound == cumulative + 1 else { return }
    cumulative = first.upperBound
    gaps.removeFirst()
  }

  private func firstGap(endingAtOrAfter tsn: Int64) -> Int {
    if let last = gaps.last, last.upperBound < tsn { return gaps.count }
    var low = 0
    var high = gaps.count
    while low < high {
      let middle = (low + high) / 2
      if gaps[middle].upperBound < tsn { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
