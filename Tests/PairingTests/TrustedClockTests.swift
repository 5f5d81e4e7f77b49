import Pairing
import Testing
import Wire

@Suite struct TrustedClockTests {
  private static let start = UnixTime(seconds: 1_800_000_000)
  private static let known = TrustedClock.Mark(latest: start, certain: start, jump: nil)
  private static let day: Int64 = 86_400
  private static let years: Int64 = 5 * 365 * day

  private func later(_ seconds: Int64) -> UnixTime { UnixTime(seconds: Self.start.seconds + seconds) }

  @Test func theSystemsDateIsBelievedWhileItGoesForward() {
    var clock = TrustedClock(mark: nil, now: .zero)
    #expect(clock.date(system: Self.start, now: .zero) == Self.start)
    #expect(clock.date(system: later(10), now: .zero + .seconds(10)) == later(10))
    // A step forward, as when NTP has found the time.
    #expect(clock.date(system: later(5000), now: .zero + .seconds(11)) == later(5000))
    #expect(clock.secondsAhead(of: later(5000)) == 0)
  }

  @Test func aDateThatIsSetBackStopsNothing() {
    var clock = TrustedClock(mark: Self.known, now: .zero)
    _ = clock.date(system: Self.start, now: .zero)
    #expect(clock.date(system: later(-2 * Self.day), now: .zero + .seconds(1)) == later(1))
    #expect(clock.secondsAhead(of: later(-2 * Self.day)) == 2 * Self.day + 1)
    // Set back again and again: time goes on at its own pace.
    for second in 2...3600 as ClosedRange<Int64> {
      #expect(clock.date(system: later(-2 * Self.day), now: .zero + .seconds(second)) == later(second))
    }
  }

  @Test func fractionsOfSecondsAreNotLost() {
    var clock = TrustedClock(mark: Self.known, now: .zero)
    for step in 1...1000 as ClosedRange<Int64> {
      _ = clock.date(system: UnixTime(seconds: 0), now: .zero + .milliseconds(step * 100))
    }
    #expect(clock.mark.latest == later(100))
  }

  /// Whether what it knows is certain or not.
  @Test(arguments: [
    known, TrustedClock.Mark(latest: start, certain: nil, jump: .init(to: start, evidence: .zero)),
  ])
  func aBoardWithoutAClockGoesOnFromItsMark(mark: TrustedClock.Mark) {
    var clock = TrustedClock(mark: mark, now: .zero + .seconds(7))
    #expect(clock.date(system: UnixTime(seconds: 30), now: .zero + .seconds(7)) == Self.start)
    #expect(clock.date(system: UnixTime(seconds: 90), now: .zero + .seconds(67)) == later(60))
    // The time is found in the end.
    #expect(clock.date(system: later(4000), now: .zero + .seconds(68)) == later(4000))
    #expect(clock.mark.latest == later(4000))
  }

  @Test func theCertainDateNeverGoesBack() {
    var clock = TrustedClock(mark: Self.known, now: .zero + .seconds(100))
    // An instant before the start, which no shell gives.
    #expect(clock.date(system: UnixTime(seconds: 0), now: .zero) == Self.start)
    #expect(clock.date(system: UnixTime(seconds: .max), now: .zero) == UnixTime(seconds: .max))
    #expect(clock.mark.certain == Self.start)
    #expect(clock.date(system: later(50), now: .zero + .seconds(150)) == later(50))
  }

  // MARK: Jumps

  @Test func oneStartFarAheadLeavesNothing() {
    var ahead = TrustedClock(mark: Self.known, now: .zero)
    #expect(ahead.date(system: later(Self.years), now: .zero) == later(Self.years))
    #expect(ahead.takeChanges() == [.jumped(from: Self.start, to: later(Self.years))])
    #expect(ahead.firmSince == later(Self.years))
    #expect(ahead.date(system: later(Self.years + 360), now: .zero + .seconds(360)) == later(Self.years + 360))
    // The next start has the right date, or a board without a clock finds it.
    for first in [later(1000), UnixTime(seconds: 20)] {
      var clock = TrustedClock(mark: ahead.mark, now: .zero)
      let date = clock.date(system: first, now: .zero)
      #expect(date == (first == later(1000) ? first : later(Self.years + 360)))
      #expect(clock.date(system: later(1001), now: .zero + .seconds(1)) == later(1001))
      #expect(clock.takeChanges() == [.refuted(latest: later(Self.years + (first == later(1000) ? 360 : 361)))])
      #expect(clock.mark == .init(latest: later(1001), certain: later(1001), jump: nil))
      #expect(clock.firmSince == UnixTime(seconds: 0))
    }
  }

  /// It goes on over restarts, and counts only while the system's date stays there.
  @Test(arguments: [(true, 3600), (false, 86_400)])
  func aJumpIsCertainAfterADayOrASynchronizedHour(isSynchronized: Bool, seconds: Int64) {
    var clock = TrustedClock(mark: Self.known, now: .zero)
    let leap = 40 * Self.day
    _ = clock.date(system: later(leap), now: .zero)
    var now: Int64 = 0
    while now < seconds - 60 {
      now += 60
      _ = clock.date(system: later(leap + now), now: .zero + .seconds(now)) { isSynchronized }
      if now == 600 { clock = TrustedClock(mark: clock.mark, now: .zero + .seconds(now)) }
    }
    #expect(clock.mark.certain == later(now) && clock.mark.jump != nil)
    // In 1970 meanwhile, it proves nothing.
    _ = clock.date(system: UnixTime(seconds: 1), now: .zero + .seconds(now + 3600)) { isSynchronized }
    #expect(clock.mark.jump != nil)
    now += 3660
    _ = clock.date(system: later(leap + now), now: .zero + .seconds(now)) { isSynchronized }
    #expect(clock.mark == .init(latest: later(leap + now), certain: later(leap + now), jump: nil))
    #expect(clock.takeChanges().last == .confirmed(later(leap + now)))
    // From then on it holds.
    #expect(clock.date(system: Self.start, now: .zero + .seconds(now)) == later(leap + now))
  }

  /// Neither a date before what is certain nor one within a day of the jump refutes it.
  @Test func aJumpIsNotUndoneByAnyDate() {
    var clock = TrustedClock(mark: Self.known, now: .zero)
    let leap = 40 * Self.day
    _ = clock.date(system: later(leap), now: .zero)
    for (second, system) in [(1, later(-2 * Self.day)), (2, later(leap - Self.day + 2)), (3, UnixTime(seconds: 0))] {
      #expect(clock.date(system: system, now: .zero + .seconds(second)) == later(leap + Int64(second)))
    }
    #expect(clock.date(system: later(leap - Self.day), now: .zero + .seconds(4)) == later(leap - Self.day))
  }

  /// Network time, or a fault, is wrong for some seconds.
  @Test func aJumpEndsNothingInItsFirstMinute() {
    var clock = TrustedClock(mark: Self.known, now: .zero)
    _ = clock.date(system: Self.start, now: .zero)
    #expect(clock.settled == Self.start)
    for second in 1..<61 as Range<Int64> {
      // A further one begins no further minute.
      let leap = second < 30 ? Self.years : 2 * Self.years
      #expect(clock.date(system: later(leap + second), now: .zero + .seconds(second)) == later(leap + second))
      #expect(clock.settled == later(second))
    }
    _ = clock.date(system: later(2 * Self.years + 61), now: .zero + .seconds(61))
    #expect(clock.settled == later(2 * Self.years + 61))
    // It is back, and another one is new.
    _ = clock.date(system: later(62), now: .zero + .seconds(62))
    #expect(clock.settled == later(62))
    _ = clock.date(system: later(Self.years), now: .zero + .seconds(63))
    #expect(clock.settled == later(63))
  }

  /// The first date of a run, and of a board without a clock, is what it is: nothing is open yet.
  @Test func aStartWithAnotherDateWaitsForNothing() {
    var clock = TrustedClock(mark: Self.known, now: .zero)
    _ = clock.date(system: later(Self.years), now: .zero)
    #expect(clock.settled == later(Self.years))
    var board = TrustedClock(mark: nil, now: .zero)
    _ = board.date(system: UnixTime(seconds: 20), now: .zero)
    _ = board.date(system: Self.start, now: .zero + .seconds(1))
    #expect(board.settled == Self.start)
  }

  @Test func aSecondJumpBeginsItsOwnTime() {
    var clock = TrustedClock(mark: nil, now: .zero)
    _ = clock.date(system: Self.start, now: .zero)
    _ = clock.date(system: later(600), now: .zero + .seconds(600))
    #expect(clock.mark.jump?.evidence == .seconds(600))
    _ = clock.date(system: later(Self.years), now: .zero + .seconds(601))
    #expect(clock.mark.jump == .init(to: later(Self.years), evidence: .zero))
    // Also on the first day, when no date is certain yet, it ends nothing for a minute.
    #expect(clock.settled == later(601))
    #expect(clock.date(system: later(602), now: .zero + .seconds(602)) == later(602))
    #expect(clock.mark.jump == .init(to: later(602), evidence: .zero))
    #expect(clock.settled == later(602))
  }
}
