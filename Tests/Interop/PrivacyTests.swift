import Foundation
import Testing

/// The picture is off for everybody, and nobody is alarmed.
extension RealPeers {
  @Suite struct PrivacyTests {
    private struct Status: Decodable {
      struct Camera: Decodable { var state: String, captured: UInt64 }
      var cameras: [Camera], alarms: [String]
    }

    private func status(_ house: Household) throws -> Status {
      try JSONDecoder().decode(Status.self, from: Data(house.child.command(["status", "--json"]).output.utf8))
    }

    @Test func aPausedCameraTakesNoPictureAndRingsNowhere() throws {
      let house = try Household()
      try house.pair()
      let watching = try ParentProcess(paired: house.state)
      #expect(watching.wait { $0.framesDecoded > 0 && $0.audioKbps > 0 } != nil, Comment(rawValue: watching.log))
      let paused = try house.parent("camera", "pause", "--json")
      #expect(paused.status == 0 && paused.output.contains(#""state":"off""#), Comment(rawValue: "\(paused)"))
      let before = try status(house)
      let still = try house.parent("screenshot", "-o", house.child.folder.appending(path: "still.jpg").path)
      #expect(still.status != 0 && still.error.contains("The camera is paused."), Comment(rawValue: still.error))
      let child = house.child
      let refused = try ChildProcess.run(
        "curl", ["-sk", "-w", " %{http_code}", "-u", "any:\(child.token)", "https://127.0.0.1:\(child.port)/still.jpg"])
      #expect(refused.output.contains("The camera is paused.") && refused.output.hasSuffix(" 503"), "\(refused)")
      // Longer than it takes to ring, and than a device that is silent takes to fail.
      sleep(9)
      let after = try status(house)
      #expect(after.cameras.map(\.state) == ["off", "off"] && after.alarms.isEmpty, "\(after)")
      #expect(after.cameras.map(\.captured) == before.cameras.map(\.captured))
      let decoded = watching.figures.last?.framesDecoded ?? 0
      // The card, and the sound.
      #expect(watching.wait { $0.framesDecoded > decoded && $0.audioKbps > 0 } != nil, Comment(rawValue: watching.log))
      #expect(watching.figures.allSatisfy { $0.alarm == nil }, Comment(rawValue: watching.log))

      try house.child.restart()
      #expect(try status(house).cameras.map(\.state) == ["off", "off"])
      // Twice, as from two phones.
      for _ in 0..<2 { #expect(try house.parent("camera", "resume").status == 0) }
      for _ in 0..<100 where try status(house).cameras.map(\.state) != ["running", "running"] { usleep(100_000) }
      #expect(try status(house).cameras.map(\.state) == ["running", "running"])
      let events = try house.parent("events", "--json").output
      for kind in ["camera-paused", "camera-resumed"] {
        #expect(events.ranges(of: "\"\(kind)\"").count == 1, Comment(rawValue: events))
      }
    }
  }
}
