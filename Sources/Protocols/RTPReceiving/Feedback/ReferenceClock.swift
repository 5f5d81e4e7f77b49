import RTP
import Wire

/// Our time as the sender hears and echoes it, from which we know the round-trip time without sending media. RFC 3611
/// sections 4.4 and 4.5.
struct ReferenceClock: Sendable {
  /// RFC 3611 section 4.4 asks for no particular origin. A random one tells nobody how long this machine has been running.
  private let origin: UInt64
  /// Those that an answer may still refer to, oldest first.
  private var sent: [(compactNTPTime: UInt32, at: Instant)] = []

  private static let remembered = 4

  init(random: inout any RandomNumberGenerator & Sendable) {
    origin = random.next()
  }

  /// The reference time for a report that is sent now.
  mutating func takeTime(now: Instant) -> UInt64 {
    let (seconds, rest) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let fraction = (UInt64(max(0, rest)) << 32) / 1_000_000_000
    let time = origin &+ (UInt64(truncatingIfNeeded: seconds) << 32) &+ fraction
    if sent.count >= Self.remembered { sent.removeFirst() }
    sent.append((RTCPExtendedReport.compact(ntpTime: time), now))
    return time
  }

  /// Now − LRR − DLRR; nil for an answer to nothing that we sent lately. The time of sending as we know it replaces LRR, and each
  /// is taken once, so that nobody makes a round trip up.
  mutating func roundTrip(_ answer: RTCPExtendedReport.Answer, now: Instant) -> Duration? {
    guard answer.lastReceiverReport != 0,
      let index = sent.lastIndex(where: { $0.compactNTPTime == answer.lastReceiverReport })
    else { return nil }
    let held = Duration.nanoseconds(Int64(answer.delaySinceLastReceiverReport) * 1_000_000_000 / 65536)
    let time = now - sent[index].at - held
    sent.removeFirst(index + 1)
    // Clock drift can make it slightly negative on a fast network.
    guard time > .milliseconds(-20) else { return nil }
    return max(time, .microseconds(15))
  }
}
