import Control
import Foundation
import Testing

/// The night report with the real programs.
extension RealPeers {
  @Suite struct NightReportTests {
    private struct Answer: Decodable { var report: ReportDocument }
    private struct Event: Decodable { var kind: String, level: String, name: String?, id: String?, detail: String? }

    private func report(_ house: Household) throws -> ReportDocument {
      let said = try house.parent("report", "--json", "--from", "0:00", "--to", "23:59")
      try #require(said.status == 0, Comment(rawValue: said.error))
      return try JSONDecoder().decode(Answer.self, from: Data(said.output.utf8)).report
    }

    private func events(_ house: Household, _ arguments: String...) throws -> [Event] {
      let said = try ChildProcess.run(
        ParentProcess.program.path, ["events", "--json", "--state-directory", house.state.path] + arguments)
      try #require(said.status == 0, Comment(rawValue: said.error))
      return try said.output.split(separator: "\n").map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }

    /// Who is connected without hearing anything is not counted, and who hears is, by what its receiver reports.
    @Test(.enabled(if: isFarFromMidnight, "the day that is asked for ends"))
    func whoListenedIsInTheReportAndWhoOnlySawIsNot() throws {
      let house = try Household(configuration: Household.configuration + "\nunheard: 30s")
      try house.pair()
      // The loud tone of the test microphone is noise.
      let watch = try house.parent("watch", "--duration", "15", "--audio-only")
      try #require(watch.status == 0, Comment(rawValue: watch.error))
      // Minutes are stored when they are over.
      let deadline = Date.now + 100
      var found = try report(house)
      while found.parents.isEmpty, Date.now < deadline {
        Thread.sleep(forTimeInterval: 3)
        found = try report(house)
      }
      #expect(found.parents.count == 1 && (1...2).contains(found.monitoredMinutes), "\(found)")
      #expect(found.noise.minutes >= 1)
      #expect(found.recordedMinutes >= 1 && found.recordedMinutes < 10)
      // The gap before the child was started.
      #expect(found.longestGap?.causes.contains("child-off") == true)
      let text = try house.parent("report", "--from", "0:00", "--to", "23:59")
      #expect(text.output.contains("heard") && text.output.contains("longest gap"), Comment(rawValue: text.output))

      let picture = house.child.folder.appending(path: "night.png")
      let drawn = try house.parent("report", "--from", "0:00", "--to", "23:59", "--png", picture.path)
      #expect(drawn.status == 0, Comment(rawValue: drawn.error))
      #expect(try Data(contentsOf: picture).starts(with: [0x89, 0x50, 0x4e, 0x47]))

      // Nobody has listened for half a minute meanwhile, or will have.
      while try !events(house).contains(where: { $0.kind == "unheard" }), Date.now < deadline {
        Thread.sleep(forTimeInterval: 2)
      }
      let grave = try events(house, "--level", "warning")
      #expect(grave.contains { $0.kind == "unheard" && $0.level == "warning" })
      #expect(!grave.contains { $0.level == "notice" })
      #expect(try house.parent("watch", "--duration", "5", "--audio-only").status == 0)
      #expect(try events(house).contains { $0.kind == "heard-again" })
    }

    private static var isFarFromMidnight: Bool {
      let parts = Calendar.current.dateComponents([.hour, .minute], from: .now)
      let minute = (parts.hour ?? 0) * 60 + (parts.minute ?? 0)
      return (10..<1425).contains(minute)
    }

    /// The link is cut, it rings at the parent, and the child learns of it when the link is there again.
    @Test func anAlarmThatRangIsToldWhenThereIsALinkAgain() throws {
      let house = try Household()
      try house.pair()
      let watching = try ParentProcess(paired: house.state)
      _ = try #require(watching.wait { $0.framesPerSecond > 0 }, Comment(rawValue: watching.log))
      // As when the power fails: no goodbye, so it rings.
      house.child.kill()
      Thread.sleep(forTimeInterval: 6)
      try house.child.restart()
      let deadline = Date.now + 60
      var alarm: Event?
      while alarm == nil, Date.now < deadline {
        alarm = try events(house).first { $0.kind == "alarm" }
        Thread.sleep(forTimeInterval: 1)
      }
      #expect(alarm?.id == "link" && alarm?.level == "alarm" && alarm?.name?.isEmpty == false, "\(watching.log)")
    }

    /// What was acknowledged before the power was cut is there after it.
    @Test func anAlarmOfTheChildSurvivesAPowerCut() throws {
      let house = try Household(
        configuration: Household.configuration.replacing(
          "{id: door, device: test, width: 320, height: 240, framerate: 30}",
          with: "{id: door, device: /dev/v4l/by-id/none}"))
      try house.pair()
      let deadline = Date.now + 30
      while try !events(house).contains(where: { $0.kind == "camera-lost" }), Date.now < deadline {
        Thread.sleep(forTimeInterval: 0.5)
      }
      Thread.sleep(forTimeInterval: 1)
      house.child.kill()
      try house.child.restart()
      #expect(try events(house).contains { $0.kind == "camera-lost" && $0.level == "alarm" })
    }
  }
}
