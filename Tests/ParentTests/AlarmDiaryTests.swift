import Control
import Testing
import Wire

@testable import Monitoring
@testable import Parent

@Suite struct AlarmDiaryTests {
  private static let unix = 1_795_291_200.0

  /// A diary in fake time; what is wrong is told by its kind.
  private struct House {
    var diary = AlarmDiary()
    var now = Instant.zero

    mutating func note(
      _ kind: Alarm.Kind?, since: Double = 0, acknowledged: Bool = false, level: Alarm.Level = .alarm,
      at seconds: Double
    ) {
      now = .zero + .milliseconds(seconds * 1000)
      let report = kind.map { kind in
        Alarm.Report(
          kind: kind, level: level, since: .zero + .milliseconds(since * 1000), isAcknowledged: acknowledged,
          loudness: acknowledged || level == .notice ? 0 : 0.5)
      }
      diary.note(report, unix: unix + seconds, now: now)
    }

    private var unix: Double { AlarmDiaryTests.unix }
  }

  @Test func anAlarmIsToldOnceWhenItIsAcknowledged() {
    var house = House()
    house.note(.link, since: 10, at: 14)
    #expect(house.diary.waiting.isEmpty)
    house.note(.link, since: 10, acknowledged: true, at: 20)
    house.note(nil, at: 90)
    #expect(
      house.diary.waiting == [
        AlarmNote(kind: "link", level: .alarm, began: Self.unix + 10, acknowledgedAt: Self.unix + 20)
      ])
  }

  @Test func oneThatIsOverByItselfIsToldToo() {
    var house = House()
    house.note(.link, since: 10, at: 14)
    house.note(nil, at: 30)
    #expect(house.diary.waiting == [AlarmNote(kind: "link", level: .alarm, began: Self.unix + 10)])
  }

  @Test func aNewSpellIsAnotherAlarm() {
    var house = House()
    house.note(.link, since: 10, at: 14)
    house.note(nil, at: 30)
    house.note(.link, since: 50, at: 54)
    house.note(.microphone, since: 60, at: 64)
    house.note(.microphone, since: 60, acknowledged: true, at: 65)
    #expect(house.diary.waiting.map(\.kind) == ["link", "link", "microphone"])
    #expect(house.diary.waiting.map { $0.acknowledgedAt != nil } == [false, false, true])
  }

  @Test func whatDidNotRingIsNotTold() {
    var house = House()
    house.note(.childStopped, level: .notice, at: 1)
    house.note(nil, at: 2)
    house.note(.test, at: 3)
    house.note(.test, acknowledged: true, at: 4)
    house.note(nil, at: 5)
    #expect(house.diary.waiting.isEmpty)
  }

  @Test func aNightWithoutALinkIsBounded() {
    var house = House()
    for number in 0..<100 {
      house.note(.link, since: Double(number * 10), at: Double(number * 10 + 4))
      house.note(nil, at: Double(number * 10 + 8))
    }
    #expect(house.diary.waiting.count == AlarmDiary.capacity)
    #expect(house.diary.waiting.last?.began == Self.unix + 990)
    let first = house.diary.waiting[0]
    house.diary.remove(first)
    #expect(house.diary.waiting.count == AlarmDiary.capacity - 1 && house.diary.waiting.first != first)
  }
}
