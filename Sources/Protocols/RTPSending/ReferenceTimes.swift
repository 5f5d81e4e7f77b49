import RTP
import Wire

/// When receivers of our media told their time, until they are answered. RFC 3611 sections 4.4 and 4.5.
struct ReferenceTimes: Sendable {
  /// The last one of each, oldest first.
  private var heard: [(ssrc: UInt32, compactNTPTime: UInt32, at: Instant)] = []

  /// libwebrtc tells it with the SSRC of each of its receivers, of which a viewer has two.
  private static let maximumReceivers = 8

  mutating func note(_ report: RTCPExtendedReport, now: Instant) {
    guard let time = report.receiverReferenceTime else { return }
    heard.removeAll { $0.ssrc == report.ssrc }
    if heard.count >= Self.maximumReceivers { heard.removeFirst() }
    heard.append((report.ssrc, RTCPExtendedReport.compact(ntpTime: time), now))
  }

  /// Each is answered once: with a lost answer only one measurement is lost.
  mutating func takeAnswers(now: Instant) -> [RTCPExtendedReport.Answer] {
    defer { heard.removeAll(keepingCapacity: true) }
    return heard.map { time in
      let nanoseconds = max(0, (now - time.at).nanoseconds)
      let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
      let delay = min(seconds, 65_535) << 16 | (rest << 16) / 1_000_000_000
      return RTCPExtendedReport.Answer(
        ssrc: time.ssrc, lastReceiverReport: time.compactNTPTime,
        delaySinceLastReceiverReport: UInt32(truncatingIfNeeded: delay))
    }
  }
}
