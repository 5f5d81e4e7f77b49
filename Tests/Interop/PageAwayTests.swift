import Foundation
import Testing

extension RealPeers {
  /// The phone page where the child's own address does not answer: from its cache, through a real meeting place, in Chromium.
  /// What is done is in peers/page_away.py.
  @Suite struct PageAwayTests {
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
          "true",
        ]
      ),
      ("configured", ["learned at home", "nobody asked at home", "relayed", "no way"]),
      ("lent", ["learned at home", "nobody asked at home", "relayed", "no way"]),
    ])
    func awayFromHome(_ scenario: String, _ steps: [String]) throws {
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let (output, log, _) = try ChildProcess.run(
        root.appending(path: ".build/venv/bin/python").path,
        [
          root.appending(path: "Tests/Interop/peers/page_away.py").path, scenario, "--child",
          ChildProcess.program.path, "--rendezvous",
          ChildProcess.program.deletingLastPathComponent().appending(path: "cradle-rendezvous").path,
        ])
      let line = try #require(output.split(separator: "\n").last, Comment(rawValue: String(log.suffix(2000))))
      let seen = try JSONDecoder().decode(PageScreensTests.Seen.self, from: Data(line.utf8))
      #expect(seen.error == nil)
      #expect(seen.steps == steps)
    }
  }
}
