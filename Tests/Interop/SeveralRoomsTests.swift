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

    @Test func theWindowShowsAllRoomsAndOneLarge() throws {
      let (first, second) = try Self.houses()
      let desktop = try VirtualDesktop()
      let parent = try ParentProcess(
        paired: first.state, arguments: ["Jürgen", "苗圃", "--window"], environment: desktop.environment)
      // xdotool finds other letters only where the locale has them.
      let title = "Cradle"
      func wait<Value>(_ what: String, for body: () throws -> Value?) throws -> Value {
        for _ in 0..<400 {
          if let value = try body() { return value }
          usleep(100_000)
        }
        throw ChildProcess.Problem(description: "never: \(what) \(parent.log)")
      }
      func isLit(_ room: String) throws -> Bool {
        let said = try first.parent("status", "--child", room, "--json").output
        return said.contains(#""id":"nightlight","state":"on""#)
      }
      let place = try wait("a window") { try desktop.window(named: title) }
      /// How many colours there are around a point, in parts of the window's size.
      func colours(_ x: Double, _ y: Double) throws -> Int {
        let pixels = try desktop.pixels()
        let (centerX, centerY) = (place.x + Int(x * Double(place.width)), place.y + Int(y * Double(place.height)))
        var found: Set<[UInt8]> = []
        for row in stride(from: centerY - 60, to: centerY + 60, by: 6) {
          for column in stride(from: centerX - 100, to: centerX + 100, by: 6) {
            let start = (row * VirtualDesktop.size.width + column) * 3
            found.insert(pixels[start..<start + 3].map { $0 / 32 })
          }
        }
        return found.count
      }
      // Both live, side by side.
      for x in [0.25, 0.75] { _ = try wait("a picture at \(x)") { try colours(x, 0.5) > 5 ? true : nil } }
      #expect(parent.wait { $0.shownMs != nil } != nil, Comment(rawValue: parent.log))
      // A click makes a room large, and keys are for it; the number of another one does the same.
      try desktop.click(in: title, at: (place.width * 3 / 4, place.height / 2))
      usleep(700_000)
      try desktop.press("l", in: title)
      _ = try wait("the light of the second") { try isLit("苗圃") ? true : nil }
      #expect(try !isLit("Jürgen"))
      try desktop.press("1", in: title)
      try desktop.press("l", in: title)
      _ = try wait("the light of the first") { try isLit("Jürgen") ? true : nil }
      // The way back leads to all, and ends nothing.
      try desktop.press("Escape", in: title)
      _ = try wait("both") { try colours(0.25, 0.5) > 5 && colours(0.75, 0.5) > 5 ? true : nil }

      second.child.kill()
      #expect(parent.wait { $0.room == "苗圃" && $0.rings } != nil, Comment(rawValue: parent.log))
      _ = try wait("the frame of an alarm") {
        let corner = (place.y * VirtualDesktop.size.width + place.x) * 3
        let pixels = try desktop.pixels()
        return pixels[corner] > 150 && pixels[corner + 1] < 100 ? true : nil
      }
      try desktop.click(in: title)
      let seen = parent.figures.count
      _ = try wait("silence") { parent.figures.dropFirst(seen).contains { $0.room == "苗圃" && !$0.rings } ? true : nil }
      let before = parent.figures.last { $0.room == "Jürgen" }?.framesDecoded ?? 0
      #expect(parent.wait { $0.room == "Jürgen" && $0.framesDecoded > before + 10 } != nil)

      for key in ["q", "q"] { try desktop.press(key, in: title) }
      #expect(parent.finish().status == 0, Comment(rawValue: parent.log))
      #expect(FileManager.default.fileExists(atPath: first.state.appending(path: "window-rooms.json").path))
    }
  }
}
