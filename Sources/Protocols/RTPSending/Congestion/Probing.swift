import Wire

/// Finds out whether the path carries more than is sent: a few milliseconds of padding at a higher rate. Without it the
/// estimate can only creep up, and a path that was bad for a moment takes half a minute to be used again.
struct Probing: Sendable {
  /// One burst. Everything that leaves while it is being sent belongs to it.
  struct Burst: Hashable, Sendable {
    var id: UInt8
    var bitsPerSecond: Double
    var startedAt: Instant
    /// What the path was thought to carry then, bits per second.
    fileprivate var target: Double
    /// More than this was not needed then, bits per second.
    fileprivate var ceiling: Double
    fileprivate var bytesToSend: Int
    fileprivate var bytesSent = 0
    fileprivate var packets = 0
    fileprivate var firstSent: Instant?
    fileprivate var lastSent: Instant?
    fileprivate var lastSentBytes = 0
    fileprivate var arrived = Arrived()

    fileprivate var isSent: Bool { bytesSent >= bytesToSend && packets >= Probing.fewestPackets }
  }

  fileprivate struct Arrived: Hashable, Sendable {
    var packets = 0
    var bytes = 0
    var first: Int64 = .max
    var firstBytes = 0
    var last: Int64 = .min
  }

  private(set) var burst: Burst?
  /// Bursts that were begun, and those that the path carried at about their rate.
  private(set) var sentCount: UInt64 = 0
  private(set) var succeededCount: UInt64 = 0
  /// Several senders behind one interface take turns; this one's turn is now.
  var mayStart = true
  /// A burst is due, and waits for its turn.
  private(set) var isWaiting = false
  private var nextID: UInt8 = 1
  private var isFirst = true
  /// The last burst brought less than was sent, and more than the path was thought to carry: jitter may have hidden the rest.
  private var isDoubtful = false
  /// Nil: not before there is feedback.
  private var nextAt: Instant?
  private var interval = shortestInterval
  /// The last rate that was shown, bits per second, and when.
  private var shown: (bitsPerSecond: Double, at: Instant)?
  /// Faster bursts tell nothing: the path has a bucket that lets them pass, as `tbf`, HTB and many a modem have. Bits per second, and
  /// until when.
  private var bucket: (bitsPerSecond: Double, until: Instant)?
  /// What the path carried before the last drop, and when that was.
  private var before: (bitsPerSecond: Double, at: Instant)?

  /// Seconds. The longer one tells better where packets come a little early or late; on a path that is full it would be a
  /// queue that lowers the estimate.
  private static let duration = 0.015
  private static let carefulDuration = 0.03
  private static let fewestPackets = 5
  /// Of a packet of padding, with all that the path carries of it.
  private static let headerBytes = 80
  private static let firstAfter = Duration.milliseconds(300)
  private static let shortestInterval = Duration.seconds(2)
  private static let longestInterval = Duration.seconds(8)
  /// While the path carries less than this share of what is useful, the interval stays the shortest: the burst is small, and
  /// it is worth knowing soon that the path is wide again.
  private static let narrowShare = 0.5
  private static let timeout = Duration.seconds(1)
  /// A probe that brought less than this share of its rate has found the path's limit.
  private static let successShare = 0.7
  private static let saturatedShare = 0.9
  private static let arrivedShare = 0.8
  private static let growth = 2.0
  private static let noticeableGrowth = 1.1
  private static let firstGrowth = 3.0
  /// A queue that stands at less than this share of what was shown, so soon after, refutes it (`aBucketDoesNotPassForAWidePath`).
  private static let refutedShare = 0.7
  private static let refutedWithin = Duration.seconds(5)
  /// Of what arrived then: so far a probe is still believed, or who has nearly nothing left would wait for a minute
  /// (`besideADownloadThatNeverFillsTheQueueNeitherStarves`). All of it is too much where the path becomes slower all the time.
  private static let believedShare = 0.5
  private static let bucketMemory = Duration.seconds(60)
  /// After a drop. On a narrow path a burst of that would stand before the sound for 100 ms.
  private static let greatestGrowth = 6.0
  private static let returnShare = 0.85
  private static let dropMemory = Duration.seconds(20)

  /// As at the start; only the counts go on.
  func onNewPath() -> Self {
    var fresh = Self()
    (fresh.sentCount, fresh.succeededCount) = (sentCount, succeededCount)
    (fresh.mayStart, fresh.nextID) = (mayStart, nextID)
    return fresh
  }

  /// Feedback has begun.
  mutating func begin(now: Instant) { nextAt = now + Self.firstAfter }

  /// The estimate falls from this rate: the path may carry it again soon.
  mutating func noteDrop(from bitsPerSecond: Double, now: Instant) {
    // None is under way, and none is due: feedback has not begun.
    if burst != nil || nextAt != nil { nextAt = now + Self.shortestInterval }
    burst = nil
    if let before, now - before.at < Self.dropMemory, before.bitsPerSecond > bitsPerSecond {
      self.before = (before.bitsPerSecond, now)
    } else {
      before = (bitsPerSecond, now)
    }
  }

  /// A queue stands while so many bits per second arrive.
  ///
  /// - Parameter isPathFull: about as much was sent as the path was thought to carry. A queue while little is sent, as of a missing
  ///   camera, refutes nothing (`aQueueWhileLittleIsSentKeepsNobodyFromProbing`).
  mutating func noteQueue(arriving: Double, isPathFull: Bool, now: Instant) {
    guard let shown, now - shown.at < Self.refutedWithin, arriving < shown.bitsPerSecond * Self.refutedShare else {
      return
    }
    self.shown = nil
    if isPathFull { bucket = (arriving * Self.believedShare, now + Self.bucketMemory) }
  }

  /// What the rate was lowered for was nothing: the next burst is due.
  mutating func hasten(now: Instant) {
    if nextAt != nil { nextAt = now }
  }

  /// Begins a burst if one is due.
  ///
  /// - Parameters:
  ///   - target: bits per second, as `ceiling`: more is never needed.
  ///   - isCalm: there is no queue, and no recent congestion.
  mutating func startIfDue(target: Double, ceiling: Double, isCalm: Bool, now: Instant) {
    let isNarrow = target < ceiling * Self.narrowShare
    if isNarrow, let due = nextAt { nextAt = min(due, now + Self.shortestInterval) }
    if let current = burst {
      guard now - current.startedAt > Self.timeout else { return }
      fail(now: now)
    }
    isWaiting = false
    guard let due = nextAt, due <= now else { return }
    if let bucket, bucket.until <= now { self.bucket = nil }
    let ceiling = min(ceiling, bucket?.bitsPerSecond ?? .infinity)
    guard isCalm, target < ceiling * 0.95 else {
      nextAt = now + Self.shortestInterval / 4
      return
    }
    guard mayStart else {
      isWaiting = true
      return
    }
    var rate = target * (isFirst ? Self.firstGrowth : Self.growth)
    isFirst = false
    if let before, now - before.at < Self.dropMemory { rate = max(rate, before.bitsPerSecond * Self.returnShare) }
    rate = min(rate, target * (isNarrow ? Self.firstGrowth : Self.greatestGrowth), ceiling)
    let duration = isDoubtful ? Self.carefulDuration : Self.duration
    isDoubtful = false
    burst = Burst(
      id: nextID, bitsPerSecond: rate, startedAt: now, target: target, ceiling: ceiling,
      bytesToSend: Int(saturating: rate * duration / 8))
    nextID = nextID == .max ? 1 : nextID + 1
    nextAt = nil
    sentCount += 1
  }

  private mutating func fail(now: Instant) {
    burst = nil
    nextAt = now + interval
    interval = min(interval * 2, Self.longestInterval)
  }

  /// When the next packet of padding leaves; nil: there is none to send.
  var nextPacketAt: Instant? {
    guard let burst, !burst.isSent else { return nil }
    return burst.startedAt
      + .nanoseconds(Int64(saturating: Double(burst.bytesSent) * 8e9 / max(1, burst.bitsPerSecond)))
  }

  /// The size of a packet of padding, so that a burst has enough packets to measure; at most 255 (RFC 3550 section 5.1).
  var paddingBytes: Int {
    guard let burst else { return 0 }
    return min(255, max(20, burst.bytesToSend / Self.fewestPackets - Self.headerBytes))
  }

  /// A packet is sent; gives back the burst that it belongs to, 0 for none.
  mutating func noteSent(bytes: Int, now: Instant) -> UInt8 {
    guard var current = burst, !current.isSent else { return 0 }
    current.bytesSent += bytes
    current.packets += 1
    current.firstSent = current.firstSent ?? now
    current.lastSent = now
    current.lastSentBytes = bytes
    burst = current
    return current.id
  }

  /// Gives back the rate that the path is shown to carry, when the last burst has arrived.
  mutating func noteArrived(_ packets: [AcknowledgedPacket], now: Instant) -> Double? {
    guard var current = burst else { return nil }
    for packet in packets where packet.burst == current.id {
      current.arrived.packets += 1
      current.arrived.bytes += packet.bytes
      if packet.arrivedAt < current.arrived.first {
        current.arrived.first = packet.arrivedAt
        current.arrived.firstBytes = packet.bytes
      }
      current.arrived.last = max(current.arrived.last, packet.arrivedAt)
    }
    burst = current
    guard current.isSent, Double(current.arrived.packets) >= Double(current.packets) * Self.arrivedShare else {
      return nil
    }
    guard let rate = Self.rate(of: current) else {
      fail(now: now)
      return nil
    }
    burst = nil
    shown = (rate, now)
    if rate >= current.bitsPerSecond * Self.successShare {
      succeededCount += 1
      // On with the next burst as soon as the estimate has followed; where that would be the same again, it tells no more.
      interval = Self.shortestInterval
      let isWorthwhile = min(rate * Self.growth, current.ceiling) > current.bitsPerSecond * Self.noticeableGrowth
      nextAt = isWorthwhile ? now : now + interval
    } else if rate > current.target * Self.noticeableGrowth {
      isDoubtful = true
      nextAt = now + Self.shortestInterval / 4
    } else {
      nextAt = now + interval
      interval = min(interval * 2, Self.longestInterval)
    }
    return rate
  }

  /// Bits per second: as it arrived, but no more than was sent.
  private static func rate(of burst: Burst) -> Double? {
    guard let first = burst.firstSent, let last = burst.lastSent, last > first else { return nil }
    let sending = (last - first).inSeconds
    let arriving = Double(burst.arrived.last - burst.arrived.first) / 1e9
    let sent = Double(burst.bytesSent - burst.lastSentBytes) * 8 / sending
    // Times, not rates: the first packet may be large, and its bytes count on one side only.
    guard sending < arriving * saturatedShare else { return sent }
    return Double(burst.arrived.bytes - burst.arrived.firstBytes) * 8 / arriving * 0.95
  }
}
