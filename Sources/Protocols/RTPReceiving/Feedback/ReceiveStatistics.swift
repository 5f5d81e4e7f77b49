import Wire

/// Loss and interarrival jitter of one source, for report blocks. RFC 3550 sections 6.4.1, A.3 and A.8.
///
/// Only packets on the source's own SSRC count, so the loss is that of the path; duplicates are ignored.
struct ReceiveStatistics: Sendable {
  private let clockRate: Double
  /// Lost before the sender restarted.
  private var lostBefore: Int64 = 0
  private var base: Int64?
  private var highest: Int64 = 0
  private var received: Int64 = 0
  private var expectedAtReport: Int64 = 0
  private var receivedAtReport: Int64 = 0
  private var last: (timestamp: UInt32, arrival: Instant)?
  /// In units of the media clock.
  private(set) var jitter = 0.0

  init(clockRate: Int) {
    self.clockRate = Double(max(1, clockRate))
  }

  /// A difference of this many seconds is a restart, not jitter.
  private static let maximumTransitChange = 5.0

  mutating func receive(sequence: Int64, timestamp: UInt32, now: Instant) {
    received += 1
    guard let base else {
      self.base = sequence
      highest = sequence
      last = (timestamp, now)
      return
    }
    self.base = min(base, sequence)
    guard sequence > highest else { return }
    highest = sequence
    // Packets of one frame share a timestamp but are sent one after another, which is not jitter.
    guard let last, last.timestamp != timestamp else { return }
    self.last = (timestamp, now)
    let change = Double(Int32(bitPattern: timestamp &- last.timestamp))
    let difference = abs((now - last.arrival).inSeconds * clockRate - change)
    guard difference < Self.maximumTransitChange * clockRate else { return }
    jitter += (difference - jitter) / 16
  }

  /// The sender has restarted with this packet, which is not counted yet.
  mutating func restart() {
    lostBefore += lostSinceBase
    base = nil
    received = 0
    expectedAtReport = 0
    receivedAtReport = 0
    last = nil
  }

  private var expected: Int64 { base.map { highest - $0 + 1 } ?? 0 }
  private var lostSinceBase: Int64 { expected - received }

  /// Packets lost on the path so far; recovered ones are not subtracted.
  var lost: Int64 { lostBefore + lostSinceBase }

  /// Seconds.
  var jitterSeconds: Double { jitter / clockRate }

  /// The values of a report block; starts the interval of the next fraction lost.
  mutating func takeReport() -> (
    fractionLost: UInt8, cumulativeLost: Int32, extendedHighestSequenceNumber: UInt32, jitter: UInt32
  ) {
    let expectedNow = expected - expectedAtReport
    let lostNow = expectedNow - (received - receivedAtReport)
    expectedAtReport = expected
    receivedAtReport = received
    let fraction = expectedNow > 0 && lostNow > 0 ? min(255, lostNow * 256 / expectedNow) : 0
    return (
      UInt8(fraction), Int32(min(max(lost, -0x80_0000), 0x7f_ffff)), UInt32(truncatingIfNeeded: highest),
      UInt32(saturating: jitter)
    )
  }
}
