import Control
import Monitoring
import Testing
import Wire

@Suite struct HealthLogTests {
  private typealias Condition = HealthLog.Condition

  private func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

  private let full = Condition(.storage, .warning, "full")

  @Test func whatStandsIsToldOnce() {
    var log = HealthLog()
    var told: [HealthLog.Change] = []
    for second in stride(from: 0, to: 8 * 3600, by: 30) { told += log.note([full], now: at(second)) }
    #expect(told == [.begins(full)])
  }

  @Test func theEndIsToldOnceWithItsLength() {
    var log = HealthLog()
    _ = log.note([full], now: at(0))
    _ = log.note([full], now: at(600))
    var told: [HealthLog.Change] = []
    for second in stride(from: 630, to: 3600, by: 30) { told += log.note([], now: at(second)) }
    #expect(told == [.over(.storage, after: .seconds(600))])
  }

  /// A board at its limit of temperature, for a night.
  @Test func whatComesAndGoesIsOneEvent() {
    var log = HealthLog()
    var told: [HealthLog.Change] = []
    for (index, second) in stride(from: 0, to: 8 * 3600, by: 30).enumerated() {
      let hot = Condition(.temperature, .notice, "\(80 + index % 3) °C")
      told += log.note(index % 2 == 0 ? [hot] : [], now: at(second))
    }
    #expect(told.count == 1)
  }

  @Test func whatBecomesWorseIsToldAgainAndWhatBecomesBetterIsNot() {
    var log = HealthLog()
    let little = Condition(.storage, .notice, "little is free")
    #expect(log.note([little], now: at(0)) == [.begins(little)])
    #expect(log.note([full], now: at(30)) == [.begins(full)])
    #expect(log.note([little], now: at(60)) == [])
    #expect(log.note([full], now: at(90)) == [])
  }

  @Test func theGravestOfSeveralCounts() {
    var log = HealthLog()
    let weak = Condition(.wireless, .notice, "wlan0 is weak")
    let weaker = Condition(.wireless, .warning, "wlan1 is weaker")
    _ = log.note([weak, weaker], now: at(0))
    #expect(log.note([weak, weaker], now: at(60)) == [.begins(weaker)])
  }

  @Test func aMomentOfWeakSignalIsNotTold() {
    var log = HealthLog()
    let weak = Condition(.wireless, .notice, "weak")
    var told = log.note([weak], now: at(0)) + log.note([weak], now: at(30)) + log.note([], now: at(60))
    told += log.note([weak], now: at(90)) + log.note([weak], now: at(120))
    #expect(told == [])
    #expect(log.note([weak], now: at(150)) == [.begins(weak)])
  }

  @Test func aClockHasTimeToBeSet() {
    var log = HealthLog()
    let clock = Condition(.clock, .notice, "not synchronized")
    #expect(log.note([clock], now: at(870)) == [])
    #expect(log.note([clock], now: at(1740)) == [])
    #expect(log.note([clock], now: at(1770)) == [.begins(clock)])
  }

  @Test func concernsAreToldForThemselves() {
    var log = HealthLog()
    let power = Condition(.power, .warning, "too low")
    #expect(log.note([full, power], now: at(0)) == [.begins(full), .begins(power)])
    #expect(log.note([full], now: at(900)) == [.over(.power, after: .zero)])
  }
}
