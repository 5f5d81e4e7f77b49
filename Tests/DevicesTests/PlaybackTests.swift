import Frames
import Synchronization
import Testing
import Wire

@testable import Devices

/// A sound card in fake time: it plays at its own rate, and a test can trouble it.
private final class FakeCard: PlaybackPort {
  let name = "card"
  let target = 1440
  private let bufferSize = 1440
  /// Samples a second.
  let rate: Double
  var now = Instant.zero
  private(set) var written = 0
  private(set) var sound: [Int16] = []
  private var startedAt: Instant?
  private var startedWith = 0
  private var isRunning = false
  private(set) var dryTimes = 0
  var failure: DeviceError?
  var isAsleep = false
  var isStuck = false

  init(rate: Double = 48_000) { self.rate = rate }

  private var played: Int {
    guard let startedAt, !isStuck else { return startedWith }
    return startedWith + Int((now - startedAt).inSeconds * rate)
  }

  func queued() throws(DeviceError) -> PlaybackQueue {
    if let failure { throw failure }
    if isAsleep { return .notReady }
    guard isRunning, !isStuck else { return .samples(written - startedWith) }
    guard played <= written else {
      isRunning = false
      startedAt = nil
      startedWith = written
      dryTimes += 1
      return .interrupted
    }
    return .samples(written - played)
  }

  func delay() -> Int { max(0, written - played) }

  func write(_ samples: ArraySlice<Int16>) throws(DeviceError) -> PlaybackOutcome {
    let count = min(samples.count, bufferSize - (written - played))
    sound += samples.prefix(count)
    written += count
    if !isRunning, written - startedWith >= target {
      isRunning = true
      startedAt = now
    }
    return .samples(count)
  }
}

struct PlaybackTests {
  private let ramp: PlaybackPull = { (samples, _) in for index in samples.indices { samples[index] = Int16(index) } }

  /// Runs a loop on a card; `each` is called before every visit.
  @discardableResult
  private func run(
    _ card: FakeCard, for duration: Duration, loop: inout PlaybackLoop, pull: PlaybackPull,
    each: (Instant) -> Void = { _ in }
  ) throws(DeviceError) -> [PlaybackProgress] {
    var reports: [PlaybackProgress] = []
    let end = card.now + duration
    while card.now < end {
      each(card.now)
      let visit = try loop.visit(card, now: card.now, pull: pull)
      if let report = visit.report { reports.append(report) }
      precondition(visit.next > card.now)
      card.now = visit.next
    }
    return reports
  }

  @Test func aCardIsKeptSuppliedWithLittle() throws {
    let card = FakeCard()
    var loop = PlaybackLoop()
    let reports = try run(card, for: .seconds(5), loop: &loop, pull: ramp)
    #expect(card.dryTimes == 0)
    #expect((48 * 5000...48 * 5031).contains(card.written))
    #expect((45...50).contains(reports.count))
    let last = try #require(reports.last)
    #expect(last.interruptions == 0 && (480...1440).contains(last.framesQueued))
    // What was heard is as much as the time that has passed.
    let heard = Int(last.framesWritten) - last.framesQueued
    #expect(abs(heard - Int(last.time.nanoseconds * 48 / 1_000_000)) < 48)
    #expect(card.sound.indices.allSatisfy { card.sound[$0] == Int16($0 % 480) })
  }

  @Test func samplesAreAskedForWithTheTimeAtWhichTheyAreHeard() throws {
    let card = FakeCard()
    var loop = PlaybackLoop()
    let times = Mutex<[Instant]>([])
    try run(card, for: .seconds(1), loop: &loop, pull: { (_, heardAt) in times.withLock { $0.append(heardAt) } })
    for (index, time) in times.withLock({ $0 }).enumerated().dropFirst(3) {
      #expect(abs((time - (Instant.zero + .milliseconds(10 * index))).inMilliseconds) < 2)
    }
  }

  @Test func aCardThatRanDryPlaysOn() throws {
    let card = FakeCard()
    var loop = PlaybackLoop()
    try run(card, for: .seconds(1), loop: &loop, pull: ramp)
    // The thread did not get to run for a while.
    card.now += .milliseconds(300)
    let reports = try run(card, for: .seconds(1), loop: &loop, pull: ramp)
    #expect(card.dryTimes == 1 && reports.last?.interruptions == 1)
    #expect(card.sound.indices.allSatisfy { card.sound[$0] == Int16($0 % 480) })
  }

  @Test func aSleepingMachineIsWaitedFor() throws {
    let card = FakeCard()
    var loop = PlaybackLoop()
    card.isAsleep = true
    try run(card, for: .seconds(1), loop: &loop, pull: ramp)
    #expect(card.written == 0)
    card.isAsleep = false
    try run(card, for: .seconds(1), loop: &loop, pull: ramp)
    #expect(card.written >= 48_000)
  }

  @Test func aCardThatTakesNothingIsReported() throws {
    let card = FakeCard()
    var loop = PlaybackLoop()
    card.isStuck = true
    do throws(DeviceError) {
      try run(card, for: .seconds(5), loop: &loop, pull: ramp)
      Issue.record("nothing noticed")
    } catch {
      guard case .silent = error.reason else { return #expect(Bool(false), "\(error)") }
    }
    #expect(card.now < .zero + .milliseconds(2100))
  }

  @Test func aCardThatIsUnpluggedIsReported() throws {
    let card = FakeCard()
    var loop = PlaybackLoop()
    try run(card, for: .seconds(1), loop: &loop, pull: ramp)
    card.failure = DeviceError(device: "card", reason: .disconnected)
    do throws(DeviceError) {
      try run(card, for: .seconds(1), loop: &loop, pull: ramp)
      Issue.record("nothing noticed")
    } catch {
      #expect(error.reason == .disconnected)
    }
  }

  @Test(arguments: [PlaybackQueue.samples(0), .interrupted])
  func aDeviceWithoutAClockIsPlayedToInRealTime(answer: PlaybackQueue) throws {
    let sink = NullCard(answer: answer)
    var loop = PlaybackLoop()
    var now = Instant.zero
    while now < .zero + .seconds(10) { now = try loop.visit(sink, now: now, pull: ramp).next }
    #expect((480_000...480_000 + 4800 + 2 * 1440).contains(sink.written))
  }

  @Test(arguments: [1000.0, -1000.0]) func theRingFollowsACardThatRunsFastOrSlow(partsPerMillion: Double) throws {
    let card = FakeCard(rate: 48_000 * (1 + partsPerMillion / 1e6))
    var loop = PlaybackLoop()
    let ring = PlaybackRing()
    var produced = 0
    var levels: [Int] = []
    try run(
      card, for: .seconds(60), loop: &loop, pull: ring.pull,
      each: { now in
        while Instant.zero + .milliseconds(20 * produced) <= now {
          ring.write([Int16](repeating: 1000, count: 960))
          produced += 1
        }
        levels.append(ring.statistics.level)
      })
    let statistics = ring.statistics
    #expect(card.dryTimes == 0 && statistics.underruns == 0 && statistics.overruns == 0)
    // 60 s at 1000 ppm are 2880 samples.
    let corrected = statistics.droppedSamples - statistics.repeatedSamples
    #expect(abs(Double(corrected) + 2.88 * partsPerMillion) < 900, "\(statistics)")
    #expect(levels.dropFirst(200).allSatisfy { (240...3360).contains($0) }, "\(statistics)")
    // A constant stays one, however it is stretched.
    #expect(card.sound.dropFirst(4800).allSatisfy { $0 == 1000 })
  }
}

/// Takes everything at once, as ALSA's null device does, or runs dry at once, as others over it.
private final class NullCard: PlaybackPort {
  let answer: PlaybackQueue
  init(answer: PlaybackQueue) { self.answer = answer }
  let name = "null"
  let target = 1440
  var written = 0
  func queued() throws(DeviceError) -> PlaybackQueue { answer }
  func delay() -> Int { 0 }
  func write(_ samples: ArraySlice<Int16>) throws(DeviceError) -> PlaybackOutcome {
    written += samples.count
    return .samples(samples.count)
  }
}
