import HearingProof
import Testing
import Wire

@Suite struct NightlyTestTests {
  /// Seconds after midnight at which it began, from a time on.
  private func begins(
    at minutes: Int, from start: Int, seconds: Int, clock: (Int) -> Int = { $0 }, unix: ((Int) -> Int)? = nil,
    isListening: (Int) -> Bool
  ) -> [Int] {
    var (test, steps) = (NightlyTest(minutes: minutes), ClockSteps())
    return (0..<seconds).compactMap { offset in
      let second = start + offset
      let now = Instant.zero + .seconds(offset)
      guard steps.isSettled(unixTime: Double(unix?(second) ?? second), now: now) else { return nil }
      let isDue = test.isDue(
        day: clock(second) / 86_400, minutesOfDay: clock(second) / 60 % 1440, hasListeners: isListening(second),
        now: now)
      return isDue ? second : nil
    }
  }

  @Test func itBeginsOnceADayWhenSomebodyListens() {
    let day = 86_400
    #expect(begins(at: 1170, from: 0, seconds: 2 * day) { _ in true } == [1170 * 60, 1170 * 60 + day])
  }

  /// Where summer time begins, the clock steps from 2:00 to 3:00; where it ends, from 3:00 back to 2:00. Two nights each.
  @Test func onceInEachNightInWhichTheClockChanges() {
    let day = 86_400
    for minutes in [119, 120, 150, 179, 180] {
      let spring = begins(at: minutes, from: 0, seconds: 2 * day, clock: { $0 < 7200 ? $0 : $0 + 3600 }) { _ in true }
      #expect(spring.count == 2, "\(minutes): \(spring)")
      #expect(spring.first == min(minutes * 60, 7200))
      let autumn = begins(at: minutes, from: 0, seconds: 2 * day, clock: { $0 < 10_800 ? $0 : $0 - 3600 }) { _ in true }
      #expect(autumn.count == 2, "\(minutes): \(autumn)")
    }
    // Where it changes at midnight: from 0:00 to 1:00, and from 0:00 back to 23:00 of the day before.
    for minutes in [0, 30, 1380, 1410, 1439] {
      let spring = begins(at: minutes, from: day - 7200, seconds: day, clock: { $0 < day ? $0 : $0 + 3600 }) { _ in true
      }
      #expect(spring.count == 1, "\(minutes): \(spring)")
      let autumn = begins(at: minutes, from: day - 7200, seconds: day, clock: { $0 < day ? $0 : $0 - 3600 }) { _ in true
      }
      #expect(autumn.count == 1, "\(minutes): \(autumn)")
    }
  }

  /// A board without a clock that learns the time at night, or was asleep, makes no sound then.
  @Test func aClockThatIsSetRightLaterPlaysNothingInTheNight() {
    let day = 86_400
    #expect(
      begins(at: 1170, from: 0, seconds: 7200, clock: { $0 < 60 ? $0 : 20_000 * day + 82_800 + $0 % 3600 }) { _ in true
      }.isEmpty)
    // Set back by a year: from its next time on.
    let back = begins(at: 600, from: 400 * day, seconds: 2 * day, clock: { $0 < 400 * day + 60 ? $0 : $0 - 365 * day })
    { _ in true }
    #expect(back.count == 2, "\(back)")
  }

  /// Years, or some hours, ahead for some seconds, in which it would be time for it.
  @Test(arguments: [5 * 365 * 86_400, 3 * 3600]) func aClockThatIsWrongForSecondsBeginsNothing(step: Int) {
    let start = 400 * 86_400 + 17 * 3600
    let wrong = { (second: Int) in (start + 30..<start + 38).contains(second) ? second + step : second }
    // 17:00 and a little, of any day; 20:00.
    for minutes in [1020, 1200] {
      let began = begins(at: minutes, from: start - 60, seconds: 86_400, clock: wrong, unix: wrong) { _ in true }
      #expect(began == [start - 17 * 3600 + minutes * 60], "\(began)")
    }
  }

  @Test func itWaitsForSomebodyToListen() {
    // 20:00, and ten seconds for the receiver.
    #expect(begins(at: 1170, from: 1169 * 60, seconds: 7200) { $0 >= 1200 * 60 } == [1200 * 60 + 10])
  }

  @Test func afterTwoHoursItIsMadeAllTheSame() {
    #expect(begins(at: 1170, from: 1169 * 60, seconds: 8000) { _ in false } == [1170 * 60 + 7200])
  }
}
