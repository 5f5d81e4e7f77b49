import RTP
import Wire

/// One SSRC that we receive.
struct ReceiveSource: Sendable {
  let ssrc: UInt32
  var tracker = SequenceTracker()
  var statistics: ReceiveStatistics
  var clock: SenderClock
  var cname: String?

  init(ssrc: UInt32, clockRate: Int) {
    self.ssrc = ssrc
    statistics = ReceiveStatistics(clockRate: clockRate)
    clock = SenderClock(clockRate: clockRate)
  }

  mutating func makeReportBlock(now: Instant) -> RTCPReportBlock {
    let numbers = statistics.takeReport()
    let report = clock.lastSenderReport(now: now)
    return RTCPReportBlock(
      ssrc: ssrc, fractionLost: numbers.fractionLost, cumulativeLost: numbers.cumulativeLost,
      extendedHighestSequenceNumber: numbers.extendedHighestSequenceNumber, jitter: numbers.jitter,
      lastSenderReport: report.compactNTPTime, delaySinceLastSenderReport: report.delay)
  }
}
