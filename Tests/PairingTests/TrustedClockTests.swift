import Pairing
import Testing
import Wire

@Suite struct TrustedClockTests {
  private static let start = UnixTime(seconds: 1_800_000_000)

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
    var clock = TrustedClock(mark: nil, now: .zero)
    _ = clock.date(system: Self.start, now: .zero)
    #expect(clock.date(system: later(-86_400), now: .zero + .seconds(1)) == later(1))
    #expect(clock.secondsAhead(of: later(-86_400)) == 86_401)
    // Set back again and again: time goes on at its own pace.
    for second in 2...3600 as ClosedRange<Int64> {
      #expect(clock.date(system: later(-86_400), now: .zero + .seconds(second)) == later(second))
    }
  }

  @Test func fractionsOfSecondsAreNotLost() {
    var clock = TrustedClock(mark: Self.start, now: .zero)
    for step in 1...1000 as ClosedRange<Int64> {
      _ = clock.date(system: UnixTime(seconds: 0), now: .zero + .milliseconds(step * 100))
    }
    #expect(clock.mark == later(100))
  }

  @Test func aBoardWithoutAClockGoesOnFromItsMark() {
    var clock = TrustedClock(mark: Self.start, now: .zero + .seconds(7))
    #expect(clock.date(system: UnixTime(seconds: 30), now: .zero + .seconds(7)) == Self.start)
    #expect(clock.date(system: UnixTime(seconds: 90), now: .zero + .seconds(67)) == later(60))
    // The time is found in the end.
    #expect(clock.date(system: later(4000), now: .zero + .seconds(68)) == later(4000))
    #expect(clock.mark == later(4000))
  }

  @Test func theMarkNeverGoesBack() {
    var clock = TrustedClock(mark: Self.start, now: .zero + .seconds(100))
    // An instant before the start, which no shell gives.
    #expect(clock.date(system: UnixTime(seconds: 0), now: .zero) == Self.start)
    #expect(clock.date(system: UnixTime(seconds: .max), now: .zero) == UnixTime(seconds: .max))
    #expect(clock.date(system: Self.start, now: .zero + .seconds(50)) == UnixTime(seconds: .max))
  }
}
