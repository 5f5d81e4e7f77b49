internal import Wire

/// Keeps a playback device filled; called again at the times it asks for. It checks the device's fill level instead of
/// waiting in poll(2), because many ALSA plug-ins are always or never ready.
struct PlaybackLoop: Sendable {
  private var samples = [Int16](repeating: 0, count: PlaybackFormat.samplesPerBlock)
  /// How many of the samples the device has accepted; all of them when the next block is due.
  private var taken = PlaybackFormat.samplesPerBlock
  private var written: UInt64 = 0
  private var interruptions = 0
  private var nextReport: Instant?
  private var silence = SilenceWatch(first: silenceLimit, then: silenceLimit)
  /// When the device began to play without interruption, and the samples written since.
  private var run: (start: Instant, written: Int)?
  private var isClockless = false

  private static let silenceLimit: Duration = .seconds(2)
  private static let reportInterval: Duration = .milliseconds(100)
  private static let shortestSleep: Duration = .milliseconds(1)
  private static let longestSleep: Duration = .milliseconds(20)
  /// No sound card runs this fast: 1 % plus 100 ms more than it should have accepted by now.
  private static let maximumLead: Int = 4800

  /// Fills the device. Returns the time of the next visit, and a report when one is due.
  ///
  /// Throws `silent` when the device accepts nothing for two seconds, and any error of the device.
  mutating func visit(
    _ port: borrowing some PlaybackPort & ~Copyable, now: Instant, pull: PlaybackPull
  ) throws(DeviceError) -> (next: Instant, report: PlaybackProgress?) {
    var queued: Int
    switch try port.queued() {
    case .notReady:
      run = nil
      return (try quiet(for: Self.longestSleep, port.name, now), nil)
    case .interrupted:
      interrupt(now)
      queued = 0
    case .samples(let count):
      queued = count
    }
    var hasTaken = false
    while queued + PlaybackFormat.samplesPerBlock <= port.target, mayTakeMore(port.target, now) {
      if taken == samples.count {
        pull(&samples, now + Self.time(of: port.delay()))
        PlaybackBlock.restoreCount(&samples)
        taken = 0
      }
      switch try port.write(samples[taken...]) {
      case .interrupted:
        interrupt(now)
        queued = 0
      case .samples(let count):
        taken += count
        queued += count
        written += UInt64(count)
        let before = run ?? (start: now, written: 0)
        run = (before.start, before.written + count)
        hasTaken = hasTaken || count > 0
      }
      // The rest is written on the next visit.
      if taken < samples.count { break }
    }
    let report = makeReport(port, queued, now)
    if hasTaken { silence.heard() }
    let sleep = sleep(queued: queued, target: port.target, now)
    return (hasTaken ? now + sleep : try quiet(for: sleep, port.name, now), report)
  }

  /// The next block is due when there is room for it.
  private func sleep(queued: Int, target: Int, _ now: Instant) -> Duration {
    var excess = queued + PlaybackFormat.samplesPerBlock - target
    if isClockless, let run {
      excess = max(excess, run.written + PlaybackFormat.samplesPerBlock - target - Self.samples(in: now - run.start))
    }
    return min(Self.longestSleep, max(Self.shortestSleep, Self.time(of: excess)))
  }

  /// A device that accepts everything at once (ALSA's null and file plug-ins) is paced by our own clock.
  private mutating func mayTakeMore(_ target: Int, _ now: Instant) -> Bool {
    guard let run else { return true }
    let due = target + Self.samples(in: now - run.start)
    if !isClockless, run.written > due + due / 100 + Self.maximumLead { isClockless = true }
    return !isClockless || run.written + PlaybackFormat.samplesPerBlock <= due
  }

  /// After an underrun a card has played all it got and waited. One that got more than real time has no clock.
  private mutating func interrupt(_ now: Instant) {
    interruptions += 1
    if let run, run.written > Self.samples(in: now - run.start) { return }
    run = nil
    isClockless = false
  }

  private mutating func quiet(for time: Duration, _ device: String, _ now: Instant) throws(DeviceError) -> Instant {
    try silence.quiet(for: time, device: device)
    return now + time
  }

  /// The first report comes once the device has started to play.
  private mutating func makeReport(
    _ port: borrowing some PlaybackPort & ~Copyable, _ queued: Int, _ now: Instant
  ) -> PlaybackProgress? {
    guard written > UInt64(queued), written > UInt64(port.target), nextReport.map({ now >= $0 }) ?? true else {
      return nil
    }
    nextReport = now + Self.reportInterval
    return PlaybackProgress(
      time: now, framesWritten: written, framesQueued: port.delay(), interruptions: interruptions)
  }

  private static func time(of samples: Int) -> Duration { .nanoseconds(Int64(samples) * 62_500 / 3) }
  private static func samples(in time: Duration) -> Int { Int(time.nanoseconds * 3 / 62_500) }
}
