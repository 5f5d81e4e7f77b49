import Foundation
import Testing

/// `cradle-parent watch A B`: one program, and each room by itself.
extension RealPeers {
  @Suite struct SeveralRoomsTests {
    private static func configuration(_ name: String) -> String {
      """
      name: \(name)
      cameras:
        - {id: cot, device: test, width: 320, height: 240, framerate: 15}
      microphone: {device: test}
      lights: [{id: nightlight, device: simulated}]
      """
    }

    /// Two baby units, of which one computer knows both: `first.state`.
    private static func houses(_ names: (String, String) = ("Jürgen", "苗圃")) throws -> (
      first: Household, second: Household
    ) {
      let first = try Household(configuration: configuration(names.0))
      let second = try Household(configuration: configuration(names.1))
      try first.pair()
      let paired = try first.parent("pair", second.address, "--code", second.open().code)
      try #require(paired.status == 0, Comment(rawValue: paired.error))
      return (first, second)
    }

    @Test func aRoomThatDiesRingsAndTheOtherGoesOn() throws {
      let (first, second) = try Self.houses()
      let parent = try ParentProcess(paired: first.state, arguments: ["jürgen", "苗圃"])
      for room in ["Jürgen", "苗圃"] {
        let seen = parent.wait { $0.room == room && $0.framesDecoded > 5 && ($0.audioLevelDb ?? -100) > -30 }
        try #require(seen != nil, "\(room) \(parent.figures.suffix(2)) \(parent.log)")
      }
      #expect(parent.log.contains("苗圃: connected"), Comment(rawValue: parent.log))
      second.child.kill()
      let ringing = parent.wait { $0.room == "苗圃" && $0.alarm?.kind == "link" && $0.rings }
      #expect(ringing != nil, "\(parent.figures.suffix(2)) \(parent.log)")
      #expect(parent.log.contains("苗圃: ALARM"), Comment(rawValue: parent.log))
      let before = parent.figures.last { $0.room == "Jürgen" }?.framesDecoded ?? 0
      #expect(parent.wait { $0.room == "Jürgen" && $0.framesDecoded > before + 10 } != nil)
      #expect(parent.figures.allSatisfy { $0.room != "Jürgen" || !$0.rings }, "\(parent.figures.suffix(4))")
      // It comes back by itself.
      try second.child.restart()
      let back = parent.wait { $0.room == "苗圃" && $0.reconnects > 0 && $0.state == "connected" && $0.alarm == nil }
      #expect(back != nil, "\(parent.figures.suffix(2)) \(parent.log)")
    }

    @Test func aRoomThatIsNotThereAtFirstRingsAndIsTriedAgain() throws {
      let (first, second) = try Self.houses(("Nursery", "Nursery"))
      second.child.kill()
      let short = try first.parent("watch", "--all", "--stats", "--duration", "3", "--speaker", "null")
      #expect(short.status == 1 && short.error.contains("never reached: Nursery #2"), Comment(rawValue: short.error))
      #expect(short.output.contains(#""room":"Nursery""#) && short.output.contains(#""room":"Nursery #2""#))

      let parent = try ParentProcess(paired: first.state, arguments: ["--all"])
      let ringing = parent.wait { $0.room == "Nursery #2" && $0.alarm?.kind == "link" && $0.rings }
      #expect(ringing?.framesDecoded == 0, "\(parent.figures.suffix(2)) \(parent.log)")
      #expect(parent.figures.last { $0.room == "Nursery" }?.state == "connected")
      try second.child.restart()
      #expect(parent.wait { $0.room == "Nursery #2" && $0.framesDecoded > 5 } != nil, Comment(rawValue: parent.log))
      // Its pairing ends: that room is over, and the other goes on.
      #expect(try second.child.command(["unpair", "--all"]).status == 0)
      let over = parent.wait { $0.room == "Nursery #2" && $0.state == "ended" }
      #expect(over?.alarm?.kind == "revoked", "\(parent.figures.suffix(2)) \(parent.log)")
      let before = parent.figures.last { $0.room == "Nursery" }?.framesDecoded ?? 0
      #expect(parent.wait { $0.room == "Nursery" && $0.framesDecoded > before + 10 } != nil)
    }

    @Test func whatCannotBeMeantIsSaidAtTheStart() throws {
      let (first, second) = try Self.houses()
      try withExtendedLifetime(second) {
        for (arguments, text) in [
          (["Jürgen", "jürgen"], "“jürgen” is “Jürgen”, which is named already"),
          (["苗圃", "苗圃"], "“苗圃” is named twice"),
          (["Jürgen", "苗圃", "--record", "a.webm"], "--record is for one camera"),
          (["--all", "--snapshot", "a.jpg"], "--snapshot is for one camera"), (["--all", "Jürgen"], "not both"),
          (["Jürgen", "苗圃", "--whep", "https://127.0.0.1:1/"], "not both"),
        ] {
          let said = try ChildProcess.run(
            ParentProcess.program.path, ["watch"] + arguments + ["--state-directory", first.state.path])
          #expect(said.status == 2 && said.error.contains(text), "\(arguments) \(said.error)")
        }
        let unknown = try first.parent("watch", "Jürgen", "Attic")
        #expect(unknown.status == 1)
        #expect(
          unknown.error.contains("“Attic” is not paired") && unknown.error.contains("Jürgen, 苗圃"),
          Comment(rawValue: unknown.error))
      }
    }
  }
}
