import RTP
import Wire

/// A packet on its way to the network. It gets its sequence number when it leaves, so that what is given up before
/// leaves no gap.
struct QueuedPacket: Sendable {
  var stream: Int
  var payload: [UInt8]
  var timestamp: UInt32
  var marker: Bool
  var isFirstOfFrame: Bool
  var isLastOfFrame: Bool
  var isKeyFrame: Bool
  var captureTime: Instant
  var skippedPictures: UInt16
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
  var statistics: RTPStreamStatistics

  var layers = TemporalLayerFilter()
  /// Frames left out by `layers`; receivers shall see no gap in the PictureIDs.
  var skippedPictures: UInt16 = 0
  /// Video was given up: nothing decodes until the next key frame.
  var awaitsKeyFrame = false
  /// When to ask for a key frame of our own accord.
  var keyFrameRequestDue: Instant?
  var keyFrameRequestedAt: Instant?
  /// When the last packet of the last key frame left.
  var keyFrameSentAt: Instant?
  /// The last FIR's sender and sequence number.
  var lastFullIntraRequest: (sender: UInt32, sequenceNumber: UInt8)?

  /// The newest pair of capture time and timestamp (with the offset): what sender reports extrapolate from.
  var clockPair: (captureTime: Instant, timestamp: UInt32)?
  var captureTimeSentAt: Instant?
  /// Nil until the first packet has left.
  var nextReport: Instant?
  /// Sender reports that a receiver may still refer to, oldest first.
  var sentReports: [(compactNTPTime: UInt32, sentAt: Instant)] = []
  private var roundTrip = RoundTripEstimate()
  var lastExtendedSequenceNumber: UInt32?

  init(configuration: RTPStreamConfiguration, cachePackets: Int, random: inout any RandomNumberGenerator & Sendable) {
    self.configuration = configuration
    timestampOffset = UInt32(truncatingIfNeeded: random.next())
    // The first half of the circle: some SRTP receivers mistake an early wrap for a lost rollover (RFC 3711 3.3.1).
    nextSequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7fff
    nextRTXSequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7fff
    cache = RetransmissionCache(capacity: configuration.supportsNACK ? cachePackets : 0)
    statistics = RTPStreamStatistics(
      ssrc: configuration.ssrc, rtxSsrc: configuration.rtx?.ssrc, kind: configuration.kind, mid: configuration.mid)
  }

  /// A report for `now`. The timestamp is that of the same moment, RFC 3550 section 6.4.1. Nil before any media.
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

  /// Smoothed; nil before the first measurement.
  var roundTripTime: Duration? { roundTrip.smoothed }
  /// See `RoundTripEstimate`.
  var cautiousRoundTripTime: Duration? { roundTrip.cautious }

  /// Receivers refer to the last report that they got; more than this many do not get lost and stay of use.
  private static let reportsRemembered = 8

  /// RFC 3550 section 6.4.1: now − LSR − DLSR. The report's own sending time stands for LSR, so that neither a step of
  /// the wall clock nor an invented LSR makes a round-trip time.
  mutating func noteRoundTrip(_ block: RTCPReportBlock, now: Instant) {
    guard block.lastSenderReport != 0,
      let report = sentReports.last(where: { $0.compactNTPTime == block.lastSenderReport })
    else { return }
    let held = Duration.nanoseconds(Int64(block.delaySinceLastSenderReport) * 1_000_000_000 / 65536)
    let time = now - report.sentAt - held
    // Clocks of different speed can make it a little negative on a fast network.
    guard time > .milliseconds(-20) else { return }
    let measured = max(time, .microseconds(15))
    roundTrip.add(measured)
    statistics.roundTripTime = measured.inSeconds
    statistics.totalRoundTripTime += measured.inSeconds
    statistics.roundTripTimeMeasurements += 1
  }
}
