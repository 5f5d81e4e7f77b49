import Control
import Foundation
import Testing

/// Proofs of hearing with the real programs: what the child's speaker plays is fed to its microphone.
extension RealPeers {
  @Suite struct HearingTests {
    private func configuration(_ room: HearingRoom, speaker: String) -> String {
      """
      name: Nursery
      cameras: [{id: cot, device: test, width: 320, height: 240, framerate: 10}]
      microphone: {device: "file:\(room.microphone)"}
      speaker: {device: "\(speaker)"}
      """
    }

    @Test func whatTheSpeakerPlaysIsHeardEndToEnd() throws {
      let room = try HearingRoom()
      defer { room.stop() }
      let house = try Household(configuration: configuration(room, speaker: "file:\(room.speaker)"))
      room.carry()
      try house.pair()
      let said = try house.parent("test")
      #expect(said.status == 0 && said.output.contains("heard end to end at"), "\(said)")
      let status = try house.parent("status")
      #expect(status.output.contains("heard end to end at"), "\(status)")
      let events = try house.parent("events")
      #expect(events.output.contains("hearing") && events.output.contains("heard end to end by"), "\(events)")
    }

    /// A player claims that it has heard what sounds, and begins such tests itself.
    @Test func whoseAccessWasLentProvesNothing() throws {
      let room = try HearingRoom()
      defer { room.stop() }
      let house = try Household(configuration: configuration(room, speaker: "file:\(room.speaker)"))
      room.carry()
      try house.pair()
      let token = try ControlTalk.token(house.child, allow: "view,listen,control", name: "Player")
      let test = #"{"id":"1","text":"hearing.test"}"#
      let alone = try ControlTalk.talk(house.child, ["test": ControlTalk.quoted([test])], token: token)
      #expect(alone["test"] == [.error("1", "unavailable")], "\(alone)")
      let watching = try ParentProcess(paired: house.state)
      _ = try #require(watching.wait { $0.audioKbps > 0 }, Comment(rawValue: watching.log))
      // Right away, and when the first chirp has sounded.
      let claim = #""{\"id\":\"2\",\"text\":\"hearing.heard\",\"parameters\":{\"number\":1,\"share\":1}}""#
      let messages = ControlTalk.quoted([test]).dropLast() + ",\(claim),{\"wait\":1.7},\(claim),{\"wait\":0.5}]"
      let claimed = try ControlTalk.talk(house.child, ["claims": String(messages)], token: token)
      #expect(claimed["claims"]??.map(\.text) == ["ok", "ok", "ok"], "\(claimed)")
      var events = ""
      for _ in 0..<100 where !events.contains("eard it") && !events.contains("heard end to end") {
        usleep(200_000)
        events = try house.parent("events", "--json").output
      }
      #expect(events.contains("heard end to end by") || events.contains("no answer from"), "\(events)")
      #expect(!events.split(separator: "\n").contains { $0.contains("hearing") && $0.contains("Player") }, "\(events)")
    }

    @Test func aSpeakerThatTheMicrophoneDoesNotHearIsFound() throws {
      let room = try HearingRoom()
      defer { room.stop() }
      let house = try Household(configuration: configuration(room, speaker: "null"))
      try house.pair()
      let said = try house.parent("test", "--json")
      #expect(said.status == 1 && said.output.contains("not-heard"), "\(said)")
      let events = try house.parent("events", "--level", "warning")
      #expect(events.output.contains("neither"), "\(events)")
    }

    @Test(arguments: [("none", "no speaker"), ("hw:CARD=Gone,DEV=0", "the baby unit's speaker is missing")])
    func withoutASpeakerTheProofSaysThatItIsWeakerAndWhy(speaker: String, cause: String) throws {
      let room = try HearingRoom()
      defer { room.stop() }
      let house = try Household(configuration: configuration(room, speaker: speaker))
      try house.pair()
      let said = try house.parent("test")
      #expect(said.status == 0 && said.output.contains("weaker proof") && said.output.contains(cause), "\(said)")
      // Nor does it say that a lullaby plays.
      let lullaby = try house.parent("lullaby", "play")
      #expect(lullaby.status == 1 && !lullaby.output.contains("plays"), "\(lullaby)")
      #expect(lullaby.error.contains("no speaker") || lullaby.error.contains("speaker is missing"), "\(lullaby)")
    }
  }
}
