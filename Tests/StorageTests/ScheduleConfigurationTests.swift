import Control
import Testing

@testable import Storage

@Suite struct ScheduleConfigurationTests {
  private static func parse(_ entry: String) throws(ConfigurationErrors) -> [Schedule.Entry] {
    try ChildConfiguration.parse(Array("schedule: [\(entry)]".utf8), file: "child.yaml").schedule
  }

  @Test func entries() throws {
    let evening = Schedule.Entry(minutes: 1140, action: .light(LightSet(state: .on, brightness: 10, seconds: 1800)))
    #expect(try Self.parse("{at: \"19:00\", light: on, brightness: 10, for: 30m}") == [evening])
    #expect(try Self.parse("{at: 7:30, camera: off}") == [.init(minutes: 450, action: .camera(isOn: false))])
    #expect(
      try Self.parse("{at: \"0:00\", lullaby: rain, days: [sat, sun]}") == [
        .init(minutes: 0, days: [5, 6], action: .lullaby(LullabyPlay(track: "rain", loop: true)))
      ])
    #expect(
      try Self.parse("{at: \"8:00\", lullaby: off}, {at: \"8:00\", light: off}").map(\.action) == [
        .lullabyStop, .light(LightSet(state: .off)),
      ])
  }

  @Test(arguments: [
    ("{camera: on}", "schedule[0].at"), ("{at: \"24:00\", camera: on}", "schedule[0].at"),
    ("{at: 1930, camera: on}", "schedule[0].at"), ("{at: \"19:00\"}", "schedule[0]"),
    ("{at: \"19:00\", camera: on, light: on}", "schedule[0]"), ("{at: \"19:00\", camera: true}", "schedule[0].camera"),
    ("{at: \"19:00\", camera: on, for: 1h}", "schedule[0].for"),
    ("{at: \"19:00\", light: off, for: 1h}", "schedule[0].light"),
    ("{at: \"19:00\", light: on, volume: 3}", "schedule[0].volume"),
    ("{at: \"19:00\", light: on, for: 30}", "schedule[0].for"),
    ("{at: \"19:00\", light: on, brightness: 0}", "schedule[0].brightness"),
    ("{at: \"19:00\", lullaby: rain, days: []}", "schedule[0].days"),
    ("{at: \"19:00\", lullaby: rain, days: [Monday]}", "schedule[0].days"),
    ("{at: \"19:00\", lullaby: rain, days: mon}", "schedule[0].days"), ("{time: 3}", "schedule[0]"),
    ("7", "schedule[0]"),
  ])
  func whatIsWrongIsNamed(entry: String, key: String) {
    do throws(ConfigurationErrors) {
      _ = try Self.parse(entry)
      Issue.record("\(entry) was taken")
    } catch {
      #expect(error.errors.contains { $0.key.hasPrefix(key) }, "\(error)")
    }
  }
}
