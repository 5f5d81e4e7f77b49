import RTP
import Wire

/// Tracks the sender reports of one source: maps RTP timestamps to capture times on either clock, and provides LSR and DLSR
/// for report blocks. RFC 3550 section 6.4.1.
struct SenderClock: Sendable {
  private let clockRate: Int64
  /// An RTP timestamp and the corresponding time on the sender's clock.
  private var pair: (timestamp: UInt32, time: Instant)?
  private var lastReport: (compactNTPTime: UInt32, arrivedAt: Instant)?
  private var offset = ClockOffset()

  init(clockRate: Int) {
    self.clockRate = Int64(max(1, clockRate))
  }

  /// - Parameter roundTrip: to the sender, if it is known.
  mutating func handle(_ report: RTCPSenderReport, roundTrip: Duration?, now: Instant) {
    lastReport = (report.compactNTPTime, now)
    // Senders without a wall clock write zero.
    guard report.ntpTime != 0 else { return }
    let sentAt = Self.unixTime(ntpTime: report.ntpTime)
    pair = (report.rtpTimestamp, sentAt)
    offset.note(sentAt: sentAt, arrivedAt: now, roundTrip: roundTrip)
  }

  /// When the sample or picture with this timestamp was captured, on the sender's clock; nil before the first report.
  func captureTime(of timestamp: UInt32) -> Instant? {
    guard let pair else { return nil }
    let units = Int64(Int32(bitPattern: timestamp &- pair.timestamp))
    return pair.time + .nanoseconds(units * 1_000_000_000 / clockRate)
  }

  /// When what was captured at this time of the sender's was captured, on our clock; nil while that is not known.
  func localTime(of captured: Instant) -> Instant? { offset.value.map { captured + $0 } }

  /// LSR and DLSR of a report block, from which the sender computes its round-trip time. Zero before the first report.
  func lastSenderReport(now: Instant) -> (compactNTPTime: UInt32, delay: UInt32) {
    guard let lastReport else { return (0, 0) }
    let nanoseconds = max(0, (now - lastReport.arrivedAt).nanoseconds)
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let delay = min(seconds, 65_535) << 16 | rest << 16 / 1_000_000_000
    return (lastReport.compactNTPTime, UInt32(truncatingIfNeeded: delay))
  }

  /// Nanoseconds since 1970.
  static func unixTime(ntpTime: UInt64) -> Instant {
    // RFC 5905 section 6: a clear top bit means the era that begins in 2036.
    let era: Int64 = ntpTime >> 63 == 1 ? 0 : 1 << 32
    let seconds = Int64(ntpTime >> 32) + era - 2_208_988_800
    let nanoseconds = ((ntpTime & 0xffff_ffff) * 1_000_000_000) >> 32
    return Instant(nanoseconds: seconds * 1_000_000_000 + Int64(nanoseconds))
  }
}
