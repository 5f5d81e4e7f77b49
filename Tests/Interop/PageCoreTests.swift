import Foundation
import Testing

/// The phone page's modules in real browsers, against a real child: pairing, watching, orders, reconnecting, alarms.
extension RealPeers {
  @Suite struct PageCoreTests {
    private struct Result: Decodable {
      struct Check: Decodable {
        var name: String
        /// What is wrong; nil if nothing is.
        var problem: String?
      }
      var checks: [Check]
      var figures: [String: Double]
    }

    @Test(arguments: ["chromium", "firefox"]) func everyCheckPasses(browser: String) throws {
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let (output, log, _) = try ChildProcess.run(
        root.appending(path: ".build/venv/bin/python").path,
        [
          root.appending(path: "Tests/Interop/peers/page_core.py").path, "--child", ChildProcess.program.path,
          "--browser", browser,
        ])
      let line = try #require(output.split(separator: "\n").last, Comment(rawValue: String(log.suffix(2000))))
      let result = try JSONDecoder().decode(Result.self, from: Data(line.utf8))
      #expect(result.checks.count >= 15)
      for check in result.checks {
        #expect(check.problem == nil, Comment(rawValue: "\(check.name): \(check.problem ?? "")"))
      }
    }
  }
}
