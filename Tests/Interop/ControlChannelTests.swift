import Foundation
import Testing

/// Errors of the control channel over a real one. aiortc is the client, with a token.
extension RealPeers {
  @Suite struct ControlChannelTests {
    private typealias Answer = ControlTalk.Answer

    private func talk(
      _ child: ChildProcess, _ messages: [String: String], token: String? = nil
    ) throws -> [String: [Answer]?] {
      try ControlTalk.talk(child, messages, token: token)
    }

    private static func quoted(_ messages: String...) -> String { ControlTalk.quoted(messages) }
    private static func quoted(_ messages: [String]) -> String { ControlTalk.quoted(messages) }

    @Test func everyErrorHasItsCode() throws {
      let child = try ChildProcess(
        configuration: Household.configuration.replacing("\"null\"", with: "none"), allow: "view,listen,control")
      let ping = #"{\"id\":\"1\",\"text\":\"ping\"}"#
      let found = try talk(
        child,
        [
          "no JSON": Self.quoted("nonsense", "", "[1]", "\"text\""),
          "no command": Self.quoted(#"{"id":"1"}"#, #"{"id":7,"text":"ping"}"#),
          "unknown": Self.quoted(#"{"id":"1","text":"rocket.launch"}"#, #"{"inReplyTo":"c1","text":"ok"}"#),
          "parameters": Self.quoted(#"{"id":"1","text":"light.set","parameters":{"state":"maybe"}}"#),
          "unavailable": Self.quoted(#"{"id":"1","text":"lullaby.play","parameters":{}}"#),
          "not permitted": Self.quoted(#"{"id":"1","text":"pairs.list"}"#, #"{"id":"2","text":"talk.acquire"}"#),
          "twice": Self.quoted(#"{"id":"1","text":"ping"}"#, #"{"id":"1","text":"ping"}"#),
          "no id": Self.quoted(#"{"text":"ping"}"#),
          "longest": #"[{"pad":"\#(ping)","to":16384}]"#,
          "too long": #"[{"pad":"\#(ping)","to":16385},{"pad":"\#(ping)","to":60000}]"#,
          "binary": #"[{"binary":100}]"#,
        ])
      #expect(found["no JSON"] == Array(repeating: .error(nil, "bad-message"), count: 4))
      #expect(found["no command"]??.map(\.code) == ["bad-message", "bad-message"])
      #expect(found["unknown"] == [.error("1", "unknown-command"), .error(nil, "bad-message")])
      #expect(found["parameters"] == [.error("1", "bad-parameters")])
      #expect(found["unavailable"] == [.error("1", "unavailable")])
      #expect(found["not permitted"] == [.error("1", "not-permitted"), .error("2", "not-permitted")])
      #expect(found["twice"] == [.ok("1"), .ok("1")])
      #expect(found["no id"] == [])
      #expect(found["longest"] == [.ok("1")])
      #expect(found["too long"]??.map(\.code) == ["bad-message", "bad-message"])
      #expect(found["binary"] == [.error(nil, "bad-message")])
      #expect(child.isRunning)
    }

    private struct Lit: Decodable {
      struct Light: Decodable {
        var brightness: Int
        var remainingSeconds: Int?
      }
      var light: Light
    }

    /// A light that is to go out goes out, however often somebody dims it meanwhile.
    @Test func dimmingKeepsTheTimerOfALight() throws {
      let house = try Household()
      try house.pair()
      func order(_ arguments: String...) throws -> Lit.Light {
        let (output, problem, status) = try ChildProcess.run(
          ParentProcess.program.path, ["light", "on"] + arguments + ["--json", "--state-directory", house.state.path])
        #expect(status == 0, Comment(rawValue: problem))
        let lit = try JSONDecoder().decode(Lit.self, from: Data(output.utf8))
        return lit.light
      }
      _ = try order("--for", "15m")
      _ = try order("--brightness", "51")
      let dimmed = try order("--brightness", "20")
      #expect(dimmed.brightness == 20 && (1...900).contains(dimmed.remainingSeconds ?? 0))
      let lasting = try order()
      #expect(lasting.remainingSeconds == nil)
    }

    @Test func theFloorIsBusyWhileAnotherSpeaks() throws {
      struct Added: Decodable { var token: String }
      let house = try Household()
      try house.pair()
      let added = try house.child.command(["token", "add", "--name", "other", "--allow", "view,talk", "--json"])
      let token = try JSONDecoder().decode(Added.self, from: Data(added.output.utf8)).token
      let speaker = Process()
      speaker.executableURL = ParentProcess.program
      speaker.arguments = ["talk", "--microphone", "test", "--duration", "60", "--state-directory", house.state.path]
      speaker.standardError = FileHandle.nullDevice
      try speaker.run()
      defer { speaker.terminate() }
      // It takes a while to begin.
      var found: [String: [Answer]?] = [:]
      for _ in 0..<10 where found["talk"] != [.error("1", "busy")] {
        found = try talk(
          house.child,
          ["talk": Self.quoted(#"{"id":"1","text":"talk.acquire"}"#), "x": Self.quoted(#"{"text":"talk.release"}"#)],
          token: token)
      }
      #expect(found["talk"] == [.error("1", "busy")], "\(found)")
    }

    @Test func ordersThatComeTooFastAreBusyAndLaterOnesAreNot() throws {
      let child = try ChildProcess(configuration: Household.configuration, allow: "view,control")
      let flood = (0..<240).map { #"{"id":"\#($0)","text":"light.set","parameters":{"state":"toggle"}}"# }
      let pictures = (0..<3).map { #"{"id":"\#($0)","text":"screenshot.take"}"# }
      let found = try talk(child, ["pictures": Self.quoted(pictures)])
      // The second and the third are refused before work begins; the first is answered when it is there.
      #expect(found["pictures"]??.filter { $0.code == "busy" }.map(\.inReplyTo) == ["1", "2"], "\(found)")
      let codes = try #require(try talk(child, ["flood": Self.quoted(flood)])["flood"] ?? nil).map(\.code)
      #expect(codes.prefix(40).allSatisfy { $0 == nil }, "\(codes)")
      #expect(codes.count { $0 == "busy" } > 20, "\(codes)")
      #expect(try talk(child, ["later": Self.quoted(flood[0])])["later"] == [.ok("0")])
    }

    @Test func whoMayOnlyWatchOrdersNothing() throws {
      let child = try ChildProcess(configuration: Household.configuration, allow: "view")
      let orders = [
        #"{"id":"1","text":"light.set","parameters":{"state":"on"}}"#, #"{"id":"1","text":"light.flash"}"#,
        #"{"id":"1","text":"lullaby.play"}"#, #"{"id":"1","text":"lullaby.stop"}"#,
        #"{"id":"1","text":"camera.switch","parameters":{"id":"door"}}"#, #"{"id":"1","text":"talk.acquire"}"#,
        #"{"id":"1","text":"pairing.open"}"#, #"{"id":"1","text":"pairs.list"}"#,
        #"{"id":"1","text":"invite.create"}"#, #"{"id":"1","text":"pair.remove","parameters":{"id":"0"}}"#,
      ]
      let found = try talk(
        child, Dictionary(uniqueKeysWithValues: orders.enumerated().map { ("order \($0)", Self.quoted($1)) }))
      for (number, order) in orders.enumerated() {
        let codes = found["order \(number)"]??.map(\.code)
        // What is wrong with the parameters may be said first; nothing is done either way.
        #expect(codes == ["not-permitted"] || codes == ["bad-parameters"], "\(order): \(found)")
      }
      let status = try child.command(["status", "--json"]).output
      #expect(!status.contains(#""state":"on""#), Comment(rawValue: status))
    }
  }
}
