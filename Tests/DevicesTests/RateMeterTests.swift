import Testing
import Wire

@testable import Devices

/// A sound card that delivers another number of samples than it says, seen by a process that does not always run.
@Suite struct RateMeterTests {
  /// Milliseconds of the day, in one of which at most 960 frames are read every 4 ms, as an unoptimized program does.
  private struct Room {
    var rate: (Int) -> Double
    /// The card tells of its frames this often.
    var period = 20
    /// What is due in other milliseconds is never captured.
    var isThere: (Int) -> Bool = { _ in true }
    /// In other milliseconds what is due waits at whom delivers it, and comes later.
    var isPassedOn: (Int) -> Bool = { _ in true }
    /// In other milliseconds this process waits for a processor.
    var isRunning: (Int) -> Bool = { _ in true }
    /// Frames that can wait; what is more is lost.
    var buffer = 32_768
    /// Whether losses are known, as a card's are.
    var tellsLosses = false

    /// All verdicts, one after the other.
    func measure(seconds: Int) -> [RateMeter.Verdict] {
      var meter = RateMeter(nominal: 48_000)
      var verdicts = [meter.verdict]
      var (captured, passed, taken, late, busy) = (0.0, 0, 0, 0, 0)
      var isOverrun = false
      for time in 0..<seconds * 1000 {
        if isThere(time) { captured += rate(time) / 1000 }
        if time % period == 0, isPassedOn(time) { passed = Int(captured) }
        if passed - taken > buffer {
          isOverrun = tellsLosses
          taken = passed - buffer
        }
        guard passed > taken, time >= busy else { continue }
        guard isRunning(time) else {
          late += 1
          continue
        }
        if isOverrun {
          (isOverrun, taken, late) = (false, passed, 0)
          meter.restart()
          continue
        }
        let count = min(960, passed - taken)
        meter.add(frames: count, late: .milliseconds(late), now: Instant(nanoseconds: Int64(time) * 1_000_000))
        (taken, late, busy) = (taken + count, 0, time + 4)
        if meter.verdict != verdicts.last { verdicts.append(meter.verdict) }
      }
      return verdicts
    }
  }

  /// True in pieces of 1 to `longest` ms that take `share` of the time, always the same.
  private static func pieces(longest: Int, share: Double) -> (Int) -> Bool {
    var random = UInt32(7)
    var pieces: [Bool] = []
    while pieces.count < 120_000 {
      random = random &* 1_664_525 &+ 1_013_904_223
      let length = 1 + Int(random >> 8) % longest
      pieces += [Bool](repeating: true, count: length)
      pieces += [Bool](repeating: false, count: Int(Double(length) * (1 - share) / share))
    }
    return { [pieces] in pieces[$0] }
  }

  private func expect(_ verdict: RateMeter.Verdict?, _ rate: Double, within: Double, _ comment: Comment) {
    guard case .steady(let measured, let error) = verdict else {
      Issue.record("\(String(describing: verdict)) \(comment)")
      return
    }
    #expect(abs(measured - rate) < rate * within && error < 0.03, "\(measured) ± \(error) for \(comment)")
  }

  private func expectNoAlarm(_ verdicts: [RateMeter.Verdict], _ comment: Comment) {
    for case .uneven(let rate) in verdicts { Issue.record("\(rate), \(comment)") }
  }

  @Test(arguments: [8000, 16_000, 32_000, 44_100, 47_040, 48_002.4, 96_000, 192_000])
  func anEvenRateIsMeasured(rate: Double) {
    for period in [5, 20, 64, 170, 500] {
      let room = Room(rate: { _ in rate }, period: period, buffer: 300_000)
      let isFast = rate < 96_000
      expect(room.measure(seconds: isFast ? 40 : 10).last, rate, within: isFast ? 0.001 : 0.01, "\(period) ms")
      if isFast, period < 100 { expect(room.measure(seconds: 5).last, rate, within: 0.01, "\(period) ms, at first") }
    }
  }

  @Test func itTakesFourSeconds() {
    let room = Room(rate: { _ in 16_000 })
    #expect(room.measure(seconds: 2) == [.measuring])
    #expect(room.measure(seconds: 5).last != .measuring)
  }

  /// Frames wait while this process does not run, and come at once. Where it was late for as long as frames are missing, nothing
  /// is said; else the rate is found.
  @Test(arguments: [8000, 16_000, 44_100, 47_040, 48_002.4]) func aBusyMachineHidesNoRate(rate: Double) {
    for (longest, share) in [(9, 0.5), (20, 0.5), (60, 0.5), (100, 0.6), (300, 0.7)] {
      let room = Room(rate: { _ in rate }, isRunning: Self.pieces(longest: longest, share: share))
      let verdicts = room.measure(seconds: 60)
      if longest < 10 || rate < 20_000 || rate > 48_000 {
        expect(verdicts.last, rate, within: 0.002, "\(longest) ms, \(share)")
      } else if verdicts.last != .measuring {
        expect(verdicts.last, rate, within: 0.02, "\(longest) ms, \(share)")
      }
      expectNoAlarm(verdicts, "\(longest) ms, \(share)")
    }
  }

  /// ALSA's `file` plug-in behind `plug` keeps one period of what has waited in a pipe.
  @Test func whatAPlugInLosesWhileThisProcessIsLateIsNotTheCards() {
    for (longest, share) in [(20, 0.5), (40, 0.3), (60, 0.7), (100, 0.5), (100, 0.2), (140, 0.8)] {
      let room = Room(rate: { _ in 48_000 }, isRunning: Self.pieces(longest: longest, share: share), buffer: 960)
      for case let verdict in room.measure(seconds: 60) where verdict != .measuring {
        expect(verdict, 48_000, within: 0.006, "\(longest) ms, \(share)")
      }
    }
  }

  /// As behind a sound server or a network that is late, of which this process knows nothing.
  @Test(arguments: [16_000, 44_100, 48_000]) func whatComesLateComesAll(rate: Double) {
    for (longest, share) in [(50, 0.5), (200, 0.5), (400, 0.5), (1000, 0.7)] {
      let room = Room(rate: { _ in rate }, isPassedOn: Self.pieces(longest: longest, share: share), buffer: 96_000)
      let verdicts = room.measure(seconds: 60)
      expect(verdicts.last, rate, within: 0.02, "\(longest) ms, \(share)")
      expectNoAlarm(verdicts, "\(longest) ms, \(share)")
    }
  }

  /// Buffers run over, and nobody says so: the card that is right is not said to be slow, one that is slow is.
  @Test func whatIsLostByALateProcessIsNotTheCards() {
    for (run, of) in [(300, 1000), (500, 1500), (200, 2000), (1500, 6500)] {
      let starved = Room(rate: { _ in 48_000 }, isRunning: { $0 % of < run }, buffer: 9600)
      for case let verdict in starved.measure(seconds: 90) where verdict != .measuring {
        expect(verdict, 48_000, within: 0.03, "\(run) of \(of)")
      }
    }
    let slow = Room(rate: { _ in 16_000 }, isRunning: { $0 % 1000 < 500 })
    expect(slow.measure(seconds: 40).last, 16_000, within: 0.01, "starved")
  }

  @Test func fiveSecondsWithoutAProcessorSayNothing() {
    for buffer in [9600, 32_768] {
      let room = Room(rate: { _ in 48_000 }, isRunning: { !(8000..<13_000).contains($0) }, buffer: buffer)
      for verdict in room.measure(seconds: 40).dropFirst() { expect(verdict, 48_000, within: 0.005, "\(buffer)") }
    }
  }

  @Test func overrunsSayNothing() {
    for rate in [16_000, 48_000.0] {
      let room = Room(
        rate: { _ in rate }, isRunning: { $0 % 2600 < 1900 }, buffer: rate > 20_000 ? 9600 : 4800, tellsLosses: true)
      let verdicts = room.measure(seconds: 60)
      expect(verdicts.last, rate, within: 0.02, "overruns")
      expectNoAlarm(verdicts, "overruns")
    }
  }

  @Test(arguments: [(1500, 2500), (500, 1000), (300, 1200), (2000, 3700)]) func aCardThatStallsIsNotSlow(
    on: Int, of: Int
  ) {
    let verdicts = Room(rate: { _ in 48_000 }, isThere: { $0 % of < on }).measure(seconds: 30)
    guard case .uneven(let rate) = verdicts.last else {
      Issue.record("\(verdicts)")
      return
    }
    let expected = 48_000 * Double(on) / Double(of)
    #expect(abs(rate - expected) < 0.2 * expected)
    for case .steady(let rate, _) in verdicts { Issue.record("\(rate)") }
  }

  @Test(arguments: [1000, 1900, 6000]) func oneStallSaysNothing(length: Int) {
    let verdicts = Room(rate: { _ in 48_000 }, isThere: { !(5000..<5000 + length).contains($0) }).measure(seconds: 22)
    for verdict in verdicts.dropFirst() { expect(verdict, 48_000, within: 0.01, "\(length) ms") }
  }

  @Test func anotherRateIsFound() {
    for (first, second) in [(48_000.0, 16_000.0), (16_000, 48_000), (44_100, 48_000), (48_000, 47_040)] {
      let verdicts = Room(rate: { $0 < 45_000 ? first : second }).measure(seconds: 90)
      expect(verdicts.last, second, within: 0.001, "\(first)")
      expectNoAlarm(verdicts, "\(first)")
    }
  }
}
