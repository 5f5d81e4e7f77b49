import RTP
import Wire

/// A packet queued for sending. It gets its sequence number when it is sent, so that dropped packets leave no gap.
struct QueuedPacket: Sendable {
  var stream: Int
  var payload: [UInt8]
  var timestamp: UInt32
  var marker: Bool
  var isFirstOfFrame: Bool
  var isLastOfFrame: Bool
  var isKeyFrame: Bool
  var captureTime: Instant
  var counterOffset: VP8CounterOffset
  var enqueuedAt: Instant
}

/// One stream's state between calls.
struct SendStream: Sendable {
  let configuration: RTPStreamConfiguration
  /// Random, RFC 3550 section 5.1.
  let timestampOffset: UInt32
  var nextSequenceNumber: UInt16
  var nextRTXSequenceNumber: UInt16
  var cache: RetransmissionCache
  var redundancy = RedundantSending()
  var statistics: RTPStreamStatistics

  var layers = TemporalLayerFilter()
  var counters = PictureCounters()
  /// Video was dropped: nothing can be decoded until the next key frame.
  var awaitsKeyFrame = false
  /// When a deferred or repeated key-frame request is due.
  var keyFrameRequestDue: Instant?
  var keyFrameRequestedAt: Instant?
  /// When the last packet of the last key frame was sent.
  var keyFrameSentAt: Instant?
  /// What was sent before this and is missing is replaced by a key frame that was requested then, or begins there.
  var coveredByKeyFrameUntil: Instant?
  /// The last FIR's sender and sequence number.
  var lastFullIntraRequest: (sender: UInt32, sequenceNumber: UInt8)?

  /// The latest pair of capture time and timestamp (with the offset), from which sender reports extrapolate.
  var clockPair: (captureTime: Instant, timestamp: UInt32)?
  var captureTimeSentAt: Instant?
  /// Nil until the first packet is sent.
  var nextReport: Instant?
  /// Sender reports that a receiver may still refer to, oldest first.
  var sentReports: [(compactNTPTime: UInt32, sentAt: Instant)] = []
  private var roundTrip = RoundTripEstimate()
  var lastExtendedSequenceNumber: UInt32?
  /// The `cumulativeLost` of the last report.
  private var lastCumulativeLost: Int32?

  init(configuration: RTPStreamConfiguration, cachePackets: Int, random: inout any RandomNumberGenerator & Sendable) {
    self.configuration = configuration
    timestampOffset = UInt32(truncatingIfNeeded: random.next())
    // The lower half of the range: some SRTP receivers misjudge the rollover counter after an early wrap (RFC 3711
    // 3.3.1).
    nextSequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7fff
    nextRTXSequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7fff
    cache = RetransmissionCache(capacity: configuration.supportsNACK ? cachePackets : 0)
    statistics = RTPStreamStatistics(
      ssrc: configuration.ssrc, rtxSsrc: configuration.rtx?.ssrc, kind: configuration.kind, mid: configuration.mid)
  }

  /// A sender report for `now`. Its RTP timestamp is that of the same instant, RFC 3550 section 6.4.1. Nil before any
  /// media.
  mutating func makeReport(wallClock: WallClockReference, now: Instant) -> RTCPSenderReport? {
    guard let clockPair else { return nil }
    let elapsed = (now - clockPair.captureTime).nanoseconds
    let (seconds, rest) = elapsed.quotientAndRemainder(dividingBy: 1_000_000_000)
    let rate = Int64(configuration.clockRate)
    let units = seconds &* rate &+ rest &* rate / 1_000_000_000
    let report = RTCPSenderReport(
      ssrc: configuration.ssrc, ntpTime: wallClock.ntpTime(at: now),
      rtpTimestamp: clockPair.timestamp &+ UInt32(truncatingIfNeeded: units),
      packetCount: UInt32(truncatingIfNeeded: statistics.packetsSent &- statistics.retransmittedPacketsSent),
      octetCount: UInt32(truncatingIfNeeded: statistics.bytesSent &- statistics.retransmittedBytesSent))
    if sentReports.count >= Self.reportsRemembered { sentReports.removeFirst() }
    sentReports.append((report.compactNTPTime, now))
    return report
  }

  /// Another path has another one.
  mutating func forgetRoundTrip() { roundTrip = RoundTripEstimate() }

  /// Smoothed; nil before the first measurement.
  var roundTripTime: Duration? { roundTrip.smoothed }
  /// See `RoundTripEstimate`.
  var cautiousRoundTripTime: Duration? { roundTrip.cautious }

  /// Receivers refer to the last report they received, which is not older than this many.
  private static let reportsRemembered = 8

  /// Counts what a report proves to have arrived since the one before, RFC 3550 appendix A.3. No more than was sent: the peer
  /// may claim any number.
  ///
  /// Call it before `lastExtendedSequenceNumber` is set.
  mutating func noteArrivals(_ block: RTCPReportBlock) {
    defer { lastCumulativeLost = block.cumulativeLost }
    let highest = block.extendedHighestSequenceNumber
    guard let last = lastExtendedSequenceNumber, let lost = lastCumulativeLost, highest.isAfter(serial: last) else {
      return
    }
    let advance = UInt64(highest &- last)
    let newlyLost = UInt64(clamping: Int64(block.cumulativeLost) - Int64(lost))
    guard advance > newlyLost else { return }
    let sent = statistics.packetsSent &- statistics.retransmittedPacketsSent
    statistics.packetsReceivedByPeer = min(sent, statistics.packetsReceivedByPeer &+ (advance - newlyLost))
  }

  /// RFC 3550 section 6.4.1: now − LSR − DLSR. The recorded send time of the report replaces LSR, so that neither a
  /// step of the wall clock nor a forged LSR distorts the round-trip time.
  mutating func noteRoundTrip(_ block: RTCPReportBlock, now: Instant) {
    guard block.lastSenderReport != 0,
      let report = sentReports.last(where: { $0.compactNTPTime == block.lastSenderReport })
    else { return }
    let held = Duration.nanoseconds(Int64(block.delaySinceLastSenderReport) * 1_000_000_000 / 65536)
    let time = now - report.sentAt - held
    // Clock drift can make it slightly negative on a fast network.
    guard time > .milliseconds(-20) else { return }
    let measured = max(time, .microseconds(15))
    roundTrip.add(measured)
    statistics.roundTripTime = measured.inSeconds
    statistics.totalRoundTripTime += measured.inSeconds
    statistics.roundTripTimeMeasurements += 1
  }
}
