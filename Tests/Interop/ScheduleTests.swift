import Foundation
import Testing

/// What `child.yaml` has done at times of the day, by a child whose clock shows a minute before seven in the evening.
extension RealPeers {
  @Suite struct ScheduleTests {
    private struct Status: Decodable {
      struct Camera: Decodable { var state: String }
      struct Light: Decodable { var state: String, brightness: Int, remainingSeconds: Int? }
      struct Lullaby: Decodable { var state: String, track: String?, volume: Int }
      struct Scheduled: Decodable { var at: String, camera: String? }
      var cameras: [Camera], lights: [Light], lullaby: Lullaby, schedule: [Scheduled]?
    }

    private static let configuration = """
      schedule:
        - {at: "19:00", light: on, brightness: 5, for: 10m}
        - {at: "19:00", lullaby: heartbeat, volume: 10}
        - {at: "19:00", camera: on}
        - {at: "07:30", camera: off}
        - {at: "08:00", lullaby: off}

      """

    /// POSIX: the zone of a place whose clock shows this many seconds after midnight now.
    private static func zone(showing seconds: Int) -> String {
      let now = Int(Date().timeIntervalSince1970) % 86_400
      let west = ((now - seconds + 43_200) % 86_400 + 86_400) % 86_400 - 43_200
      let (hours, rest) = abs(west).quotientAndRemainder(dividingBy: 3600)
      return "TZ=HERE\(west < 0 ? "-" : "")\(hours):\(rest / 60):\(rest % 60)"
    }

    private func state(_ house: Household) throws -> Status {
      let said = try house.parent("status", "--json")
      guard said.status == 0 else { throw ChildProcess.Problem(description: said.error) }
      return try JSONDecoder().decode(Status.self, from: Data(said.output.utf8))
    }

    private func waitForPause(_ house: Household) throws {
      // It may just be starting.
      for _ in 0..<10 where (try? state(house))?.cameras.map(\.state) != ["off", "off"] { sleep(1) }
      #expect(try state(house).cameras.map(\.state) == ["off", "off"])
    }

    @Test func whatIsDueIsDoneAndWhatSomebodyDidSinceStays() throws {
      let house = try Household(
        configuration: Household.configuration + "\n" + Self.configuration,
        prefix: ["env", Self.zone(showing: 19 * 3600 - 25)])
      try house.pair()
      // Since half past seven in the morning.
      try waitForPause(house)
      for _ in 0..<40 where try state(house).lights[0].state != "on" { sleep(1) }
      let evening = try state(house)
      #expect(evening.lights[0].brightness == 5 && (500...600).contains(evening.lights[0].remainingSeconds ?? 0))
      #expect(
        evening.lullaby.state == "playing" && evening.lullaby.track == "heartbeat" && evening.lullaby.volume == 10)
      #expect(evening.cameras.allSatisfy { $0.state != "off" })
      #expect(evening.schedule?.map(\.at) == ["07:30", "08:00", "19:00"], "\(String(describing: evening.schedule))")
      #expect(evening.schedule?.first?.camera == "off")

      #expect(try house.parent("camera", "pause").status == 0)
      try house.child.restart()
      try waitForPause(house)
      sleep(3)
      #expect(try state(house).cameras.map(\.state) == ["off", "off"])
    }
  }
}
