import Testing

@testable import Control

@Suite struct ScheduleTests {
  /// A Monday: 2026-11-30.
  private static let monday = 20_787
  private static let on = Schedule.Action.camera(isOn: true)
  private static let off = Schedule.Action.camera(isOn: false)
  private static let light = Schedule.Action.light(LightSet(state: .on))

  private static func minutes(_ hour: Int, _ minute: Int = 0) -> Int { hour * 60 + minute }

  private static let evening = [
    Schedule.Entry(minutes: minutes(18, 45), action: on), Schedule.Entry(minutes: minutes(7), action: off),
    Schedule.Entry(minutes: minutes(19), action: light),
  ]

  /// What a day does, minute by minute; `clock` gives the local minutes of each.
  private static func run(
    _ entries: [Schedule.Entry], _ times: [(day: Int, minutes: Int)]
  ) -> [(minutes: Int, action: Schedule.Action)] {
    var schedule = Schedule(entries)
    return times.flatMap { time in
      schedule.due(day: time.day, minutesOfDay: time.minutes).map { (time.minutes, $0) }
    }
  }

  @Test func eachEntryIsDoneOnceADay() {
    let day = (0..<2 * 1440).map { (Self.monday + $0 / 1440, $0 % 1440) }
    // Three times a minute.
    let done = Self.run(Self.evening, day.flatMap { [$0, $0, $0] })
    #expect(done.map(\.minutes) == [0, 420, 1125, 1140, 420, 1125, 1140])
    #expect(done.map(\.action) == [Self.on, Self.off, Self.on, Self.light, Self.off, Self.on, Self.light])
  }

  @Test func daysOfTheWeek() {
    let entries = [Schedule.Entry(minutes: 60, days: [0, 5], action: Self.light)]
    let week = (0..<7 * 1440).map { (Self.monday + $0 / 1440, $0 % 1440) }
    #expect(Self.run(entries, week).count == 2)
    var schedule = Schedule(entries)
    _ = schedule.due(day: Self.monday, minutesOfDay: 59)
    #expect(schedule.due(day: Self.monday, minutesOfDay: 60) == [Self.light])
  }

  /// 02:30 does not exist when summer time begins, and comes twice when it ends.
  @Test func daylightSaving() {
    let entries = [Schedule.Entry(minutes: Self.minutes(2, 30), action: Self.light)]
    let spring = Array(0..<120) + Array(180..<300)
    #expect(Self.run(entries, spring.map { (Self.monday, $0) }).map(\.minutes) == [180])
    let autumn = Array(0..<180) + Array(120..<300)
    #expect(Self.run(entries, autumn.map { (Self.monday, $0) }).map(\.minutes) == [150])
  }

  @Test func aClockThatIsSetSwitchesNoLightOn() {
    var schedule = Schedule(Self.evening)
    #expect(schedule.due(day: 0, minutesOfDay: 10) == [Self.on])
    // From 1970 to an evening: the camera alone.
    #expect(schedule.due(day: Self.monday, minutesOfDay: Self.minutes(19, 30)) == [Self.on])
    #expect(schedule.due(day: Self.monday, minutesOfDay: Self.minutes(19, 31)) == [])
    // And back.
    #expect(schedule.due(day: Self.monday - 400, minutesOfDay: Self.minutes(12)) == [Self.off])
    #expect(schedule.due(day: Self.monday - 400, minutesOfDay: Self.minutes(18, 45)) == [Self.on])
  }

  @Test func whatStandsAndWhatComes() {
    let schedule = Schedule(Self.evening)
    let standing = schedule.camera(day: Self.monday, minutesOfDay: Self.minutes(6))
    #expect(standing?.isOn == true && standing?.minutesAgo == Self.minutes(11, 15))
    #expect(Schedule([]).camera(day: 3, minutesOfDay: 3) == nil)
    #expect(
      schedule.next(day: Self.monday, minutesOfDay: Self.minutes(18, 45)).map(\.action) == [Self.light, Self.off])
    #expect(schedule.next(day: Self.monday, minutesOfDay: 0).map(\.minutes) == [420, 1140])
  }
}
