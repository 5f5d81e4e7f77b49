import Wire

/// State of the one-way delay. draft-ietf-rmcat-gcc-02 section 5.4.
enum BandwidthUsage: Hashable, Sendable {
  case normal
  /// A queue builds up on the path.
  case overuse
  /// A queue drains.
  case underuse
}

/// Detects from send and arrival times whether a queue builds up on the path: fits a line through the delays of the
/// last groups of packets and compares its slope with an adaptive threshold. draft-ietf-rmcat-gcc-02 section 5.
///
/// The slope alone mistakes a scheduling hiccup of a busy machine, or a power-saving radio, for a queue. Overuse
/// therefore also requires a standing queue: no packet of the last 100 to 200 ms arrived with little delay.
struct DelayTrend: Sendable {
  private(set) var usage = BandwidthUsage.normal
  private var standing = StandingQueue()

  /// Minimum queuing delay of recent packets, in milliseconds.
  var standingQueueMilliseconds: Double { standing.milliseconds(inBatches: false) }
  /// The same, of at least two batches where what arrives comes in such: the last packet of one is a little older than that of
  /// another.
  var steadyQueueMilliseconds: Double { standing.milliseconds(inBatches: comesInBatches) }
  /// Of what arrives in batches, only the last packet of each tells how long the path takes.
  var comesInBatches = false

  /// What is taken for a queue is the path's own delay.
  mutating func takeQueueForPath() { standing = StandingQueue() }

  private struct Group: Sendable {
    var firstSent: Int64
    var lastSent: Int64
    var firstArrival: Int64
    var lastArrival: Int64
  }

  private var current: Group?
  private var previous: Group?
  /// Consecutive groups that arrived before their predecessor.
  private var overtakingGroups = 0
  private var accumulated = 0.0
  private var smoothed = 0.0
  private var samples: [(time: Double, delay: Double)] = []
  private var nextSample = 0
  private var groupCount = 0
  private var threshold = initialThreshold
  private var thresholdUpdatedAt: Int64?
  private var overuseMilliseconds = 0.0
  private var overuseCount = 0
  private var lastTrend = 0.0

  /// Packets sent within this time form one group. Section 5.2 of the draft.
  private static let burstNanoseconds: Int64 = 5_000_000
  private static let window = 20
  private static let initialThreshold = 12.5
  private static let overtakingGroupsToReset = 3
  /// A standing queue below this does not count as overuse, `slackMilliseconds` apart.
  private static let harmlessQueueMilliseconds = 25.0
  /// How long a small packet takes at the present rate. On a narrow path its own transmission looks like a queue, compared
  /// with the time when the path was wide.
  var slackMilliseconds = 0.0

  /// Packets must be added in the order in which the feedback lists them.
  mutating func add(_ packet: AcknowledgedPacket) {
    let sent = packet.sentAt.nanoseconds
    standing.add(oneWayDelay: Double(packet.arrivedAt &- sent) / 1e6, arrivedAt: packet.arrivedAt)
    guard var group = current else {
      current = Group(firstSent: sent, lastSent: sent, firstArrival: packet.arrivedAt, lastArrival: packet.arrivedAt)
      return
    }
    // Sent before the group began: reordered, so it says nothing about the queue.
    guard sent >= group.firstSent else { return }
    if belongs(packet, to: group) {
      group.lastSent = max(group.lastSent, sent)
      group.lastArrival = max(group.lastArrival, packet.arrivedAt)
      current = group
      return
    }
    complete(group)
    current = Group(firstSent: sent, lastSent: sent, firstArrival: packet.arrivedAt, lastArrival: packet.arrivedAt)
  }

  private func belongs(_ packet: AcknowledgedPacket, to group: Group) -> Bool {
    let sent = packet.sentAt.nanoseconds
    if sent - group.firstSent <= Self.burstNanoseconds { return true }
    // Packets that were queued together arrive in a burst: each has a lower delay than the one before.
    let sinceLast = packet.arrivedAt &- group.lastArrival
    return sinceLast >= 0 && sinceLast <= Self.burstNanoseconds && sinceLast < sent - group.lastSent
      && packet.arrivedAt &- group.firstArrival < 100_000_000
  }

  private mutating func complete(_ group: Group) {
    guard let previous else {
      self.previous = group
      return
    }
    let sentDelta = Double(group.lastSent - previous.lastSent) / 1e6
    let arrivalDelta = Double(group.lastArrival &- previous.lastArrival) / 1e6
    // A single group that overtakes another is ignored. Several in a row mean that the clock has jumped.
    overtakingGroups = arrivalDelta < 0 ? overtakingGroups + 1 : 0
    if (1..<Self.overtakingGroupsToReset).contains(overtakingGroups) { return }
    self.previous = group
    // Start over when the clock jumps or the peer sends impossible times.
    guard arrivalDelta >= 0, arrivalDelta < 3000, sentDelta < 3000 else {
      reset()
      return
    }
    groupCount += 1
    accumulated += arrivalDelta - sentDelta
    smoothed = groupCount == 1 ? accumulated : 0.9 * smoothed + 0.1 * accumulated
    let sample = (time: Double(group.lastArrival) / 1e6, delay: smoothed)
    if samples.count < Self.window {
      samples.append(sample)
    } else {
      samples[nextSample] = sample
      nextSample = (nextSample + 1) % Self.window
    }
    detect(sentDelta: sentDelta, now: group.lastArrival)
  }

  /// Forgets the slope, but not how long the empty path takes.
  mutating func beginAnew() {
    let known = standing
    current = nil
    previous = nil
    reset()
    threshold = Self.initialThreshold
    standing = known
  }

  private mutating func reset() {
    samples.removeAll(keepingCapacity: true)
    nextSample = 0
    groupCount = 0
    accumulated = 0
    smoothed = 0
    overtakingGroups = 0
    overuseMilliseconds = 0
    overuseCount = 0
    lastTrend = 0
    usage = .normal
    standing = StandingQueue()
  }

  /// Least squares over the window.
  private var slope: Double {
    guard samples.count == Self.window else { return 0 }
    let count = Double(samples.count)
    var meanTime = 0.0
    var meanDelay = 0.0
    for sample in samples {
      meanTime += sample.time / count
      meanDelay += sample.delay / count
    }
    var numerator = 0.0
    var denominator = 0.0
    for sample in samples {
      numerator += (sample.time - meanTime) * (sample.delay - meanDelay)
      denominator += (sample.time - meanTime) * (sample.time - meanTime)
    }
    return denominator > 0 ? numerator / denominator : 0
  }

  private mutating func detect(sentDelta: Double, now: Int64) {
    // The slope, scaled to milliseconds of queue over the window, so that a single threshold works.
    let trend = slope * Double(min(groupCount, 60)) * 4
    if trend > threshold {
      overuseMilliseconds += overuseCount == 0 ? sentDelta / 2 : sentDelta
      overuseCount += 1
      if overuseMilliseconds > 10, overuseCount > 1, trend >= lastTrend {
        usage = steadyQueueMilliseconds > Self.harmlessQueueMilliseconds + slackMilliseconds ? .overuse : .normal
        overuseMilliseconds = 0
        overuseCount = 0
      }
    } else {
      overuseMilliseconds = 0
      overuseCount = 0
      usage = trend < -threshold ? .underuse : .normal
    }
    lastTrend = trend
    adaptThreshold(to: abs(trend), now: now)
  }

  /// Section 5.4 of the draft: the threshold follows the trend, slowly up and fast down, so that a concurrent TCP flow
  /// does not starve us; outliers are ignored.
  private mutating func adaptThreshold(to trend: Double, now: Int64) {
    defer { thresholdUpdatedAt = now }
    guard let last = thresholdUpdatedAt, trend <= threshold + 15 else { return }
    let gain = trend < threshold ? 0.039 : 0.0087
    let elapsed = min(max(0, Double(now &- last) / 1e6), 100)
    threshold = min(max(threshold + gain * (trend - threshold) * elapsed, 6), 600)
  }
}

/// Minimum queuing delay of recent packets, relative to the minimum of the last one to two minutes. The receiver's
/// clock offset cancels out, and over that time 50 ppm of drift are 6 ms at most. A shorter memory would mistake a
/// queue that somebody's upload keeps filled for propagation delay.
private struct StandingQueue: Sendable {
  private var recent = WindowedMinimum(window: 100_000_000)
  private var batches = WindowedMinimum(window: 200_000_000)
  private var base = WindowedMinimum(window: 60_000_000_000)

  /// Windows of arrival: what was sent within 100 ms may take a second to arrive over a path that has become slow.
  mutating func add(oneWayDelay: Double, arrivedAt time: Int64) {
    recent.add(oneWayDelay, at: time)
    batches.add(oneWayDelay, at: time)
    base.add(oneWayDelay, at: time)
  }

  func milliseconds(inBatches: Bool) -> Double { max(0, (inBatches ? batches : recent).value - base.value) }
}

/// Minimum over the last one to two windows, in constant space.
private struct WindowedMinimum: Sendable {
  private let window: Int64
  private var start: Int64?
  private var current = Double.infinity
  private var previous = Double.infinity

  init(window: Int64) {
    self.window = window
  }

  var value: Double {
    let least = min(current, previous)
    return least.isFinite ? least : 0
  }

  mutating func add(_ value: Double, at time: Int64) {
    let elapsed = time &- (start ?? time)
    // Reordered, and too old to describe the current path.
    guard elapsed >= -window else { return }
    if start == nil || elapsed >= 2 * window {
      previous = .infinity
      current = .infinity
      start = time
    } else if elapsed >= window {
      previous = current
      current = .infinity
      start = time
    }
    current = min(current, value)
  }
}
