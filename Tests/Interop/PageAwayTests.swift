import Foundation
import Testing

extension RealPeers {
  /// The phone page where the child's own address does not answer: from its cache, through a real meeting place, in Chromium.
  @Suite struct PageAwayTests {
    private static func see(_ scenario: String, in script: String) throws -> PageScreensTests.Seen {
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let (output, log, _) = try ChildProcess.run(
        root.appending(path: ".build/venv/bin/python").path,
        [
          root.appending(path: "Tests/Interop/peers/\(script).py").path, scenario, "--child",
          ChildProcess.program.path, "--rendezvous",
          ChildProcess.program.deletingLastPathComponent().appending(path: "cradle-rendezvous").path,
        ])
      let line = try #require(output.split(separator: "\n").last, Comment(rawValue: String(log.suffix(2000))))
      return try JSONDecoder().decode(PageScreensTests.Seen.self, from: Data(line.utf8))
    }

    @Test(arguments: [
      (
        "met",
        [
          "learned at home", "opened from the cache", "picture and sound", "not there", "there again",
          "goes on without the place",
        ]
      ),
      (
        "forged",
        [
          "learned at home", "signed by another key", "of another child", "another's header", "too old", "no presence",
          "far too long", "true",
        ]
      ),
      ("withheld", ["learned at home", "goes on to the other", "it goes last", "what each said"]),
      ("configured", ["learned at home", "nobody asked at home", "relayed", "no way"]),
      ("lent", ["learned at home", "nobody asked at home", "relayed", "no way"]),
    ])
    func awayFromHome(_ scenario: String, _ steps: [String]) throws {
      let seen = try Self.see(scenario, in: "page_away")
      #expect(seen.error == nil)
      #expect(seen.steps == steps)
    }

    @Test(
      .enabled(if: getuid() == 0, "network namespaces need root"),
      arguments: ["direct", "relayed_between", "tcp_443", "forwarded"])
    func throughTheRoutersOfTwoNetworks(_ scenario: String) throws {
      let seen = try Self.see(scenario, in: "page_networks")
      #expect(seen.error == nil)
      #expect(seen.steps == ["at home", "elsewhere"])
    }
  }
}
