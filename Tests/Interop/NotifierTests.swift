import Foundation
import Testing

extension RealPeers {
  /// A real child tells real servers what happens. Its start, the event `restart`, is what they are told.
  @Suite struct NotifierTests {
    private struct Status: Decodable {
      var notifiers: [Notifier]
      var alarms: [String]
    }
    private struct Notifier: Decodable {
      var name: String, state: String, delivered: Int, waiting: Int, failuresInARow: Int, lastError: String?
    }
    private struct Tests: Decodable { var tests: [Row] }
    private struct Row: Decodable { var name: String, delivered: Bool, detail: String }

    private static func configuration(_ notifiers: String...) -> String {
      """
      name: Nursery
      cameras: [{id: cot, device: test, width: 320, height: 240, framerate: 10}]
      microphone: {device: none}
      speaker: {device: none}
      notify:

      """ + notifiers.map { "  - {\($0)}\n" }.joined()
    }

    private static func status(_ child: ChildProcess) throws -> Status {
      try JSONDecoder().decode(Status.self, from: Data(child.command(["status", "--json"]).output.utf8))
    }

    /// Until the notifier is as wanted, or 30 s have passed.
    private static func wait(
      _ child: ChildProcess, _ name: String, until isFine: (Notifier) -> Bool
    ) throws -> Notifier {
      var found: Notifier?
      for _ in 0..<150 {
        found = try status(child).notifiers.first { $0.name == name }
        if let found, isFine(found) { break }
        usleep(200_000)
      }
      return try #require(found)
    }

    @Test func eventsAreToldAndOneServerDelaysNoOther() throws {
      let server = try NotifiedServer()
      let closed = try ReservedPort.next()
      let token = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)")
      try Data("s3cret-token\n".utf8).write(to: token)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: token.path)
      defer { try? FileManager.default.removeItem(at: token) }
      let base = "http://127.0.0.1:\(server.port)"
      let child = try ChildProcess(
        configuration: Self.configuration(
          "name: slow, url: \"\(base)/hang\", events: [restart]",
          "name: shut, url: \"http://127.0.0.1:\(closed)/hidden-topic\", events: [restart]",
          "name: drops, url: \"\(base)/drop\", events: [restart]",
          "name: phone, url: \"\(base)/ok\", events: [restart], headers: {Authorization: {file: \(token.path), prefix: \"Bearer \"}}",
          "name: text, url: \"\(base)/put\", method: PUT, events: [restart], body: \"{child} {kind} {level}\"",
          "name: flaky, url: \"\(base)/flaky\", events: [restart]",
          "name: alarms, url: \"\(base)/alarms\""))

      let told = try #require(server.wait("/ok").first)
      #expect(told["kind"] == "restart" && told["child"] == "Nursery" && told["level"] == "notice")
      #expect(told["text"] == "Nursery: The child has started")
      #expect(told.headers["authorization"] == "Bearer s3cret-token")
      #expect(told.headers["content-type"] == "application/json")
      let put = try #require(server.wait("/put").first)
      #expect(put.method == "PUT" && put.body == "Nursery restart notice")
      #expect(put.headers["content-type"] == "text/plain; charset=utf-8")
      #expect(server.wait("/flaky", count: 2).count == 2)
      #expect(server.wait("/hang").count == 1)

      let shut = try Self.wait(child, "shut") { $0.failuresInARow > 0 }
      #expect(shut.state == "failing" && shut.waiting == 1 && shut.delivered == 0)
      #expect(shut.lastError?.contains("refused") == true)
      let drops = try Self.wait(child, "drops") { $0.failuresInARow > 0 }
      #expect(drops.lastError == "the connection was lost")
      #expect(try Self.wait(child, "flaky") { $0.delivered == 1 }.state == "idle")
      #expect(try Self.status(child).alarms.contains { $0.hasPrefix("Notifier shut fails") })
      #expect(server.requests("/alarms").isEmpty)

      let one = try child.command(["notify", "--test", "phone"])
      #expect(one.status == 0 && one.output.hasPrefix("ok  "), "\(one.error)")
      #expect(server.wait("/ok", count: 2).last?["kind"] == "test")
      let other = try child.command(["notify", "--test", "shut", "--json"])
      #expect(other.status == 1)
      let row = try #require(try JSONDecoder().decode(Tests.self, from: Data(other.output.utf8)).tests.first)
      #expect(row.name == "shut" && !row.delivered && row.detail.contains("refused"))
      #expect(try child.command(["notify", "--test", "nobody"]).error.contains("no notifier is called"))

      for secret in ["s3cret", "hidden-topic"] {
        #expect(!child.logText.contains(secret))
        #expect(try !child.command(["status", "--json"]).output.contains(secret))
      }
      // A request that hangs does not hold up the end.
      let began = Date()
      #expect(child.stop() == 0)
      #expect(Date().timeIntervalSince(began) < 5)
    }

    @Test func aPictureOfTheRoomGoesAlong() throws {
      let server = try NotifiedServer()
      let base = "http://127.0.0.1:\(server.port)"
      let child = try ChildProcess(
        configuration: Self.configuration(
          "name: ntfy, url: \"\(base)/body\", method: PUT, events: [restart], body: \"{child} ü {kind}\", picture: {header: Message}",
          "name: pushover, url: \"\(base)/form\", events: [restart], headers: {Content-Type: application/x-www-form-urlencoded}, body: \"a=1%2B1&message={text}\", picture: {field: attachment}"
        ))

      let put = try #require(server.wait("/body").first)
      #expect(put.headers["content-type"] == "image/jpeg" && put.picture?.starts(with: [0xff, 0xd8, 0xff]) == true)
      #expect(put.headers["message"] == "=?UTF-8?B?\(Data("Nursery ü restart".utf8).base64EncodedString())?=")
      let form = try #require(server.wait("/form").first)
      #expect(form.fields?["a"] == "1+1" && form.fields?["message"] == "Nursery: The child has started")
      #expect(form.picture?.starts(with: [0xff, 0xd8, 0xff]) == true)
      let tested = try child.command(["notify", "--test", "ntfy"])
      #expect(tested.status == 0 && server.wait("/body", count: 2).last?.picture != nil, "\(tested.error)")
    }

    /// The text comes all the same.
    @Test func withoutACameraTheTextGoesAlone() throws {
      let server = try NotifiedServer()
      let child = try ChildProcess(
        configuration: Self.configuration(
          "name: ntfy, url: \"http://127.0.0.1:\(server.port)/text\", events: [restart], body: \"{kind}\", picture: {header: Message}"
        ).replacing("device: test, width: 320, height: 240, framerate: 10", with: "device: /dev/video99"))
      let told = try #require(server.wait("/text").first, "\(child.logText)")
      #expect(told.body == "restart" && told.picture == nil && told.headers["message"] == nil)
    }

    @Test func whatIsUndeliveredSurvivesAPowerCut() throws {
      let port = try ReservedPort.next()
      let child = try ChildProcess(
        configuration: Self.configuration("name: phone, url: \"http://127.0.0.1:\(port)/ok\", events: [restart]"))
      _ = try Self.wait(child, "phone") { $0.failuresInARow > 0 }
      child.kill()
      // Times are told in whole seconds.
      Thread.sleep(forTimeInterval: 1.1)
      let server = try NotifiedServer(port: port)
      try child.restart()
      let told = server.wait("/ok", count: 2)
      #expect(told.count == 2)
      let times = told.compactMap { $0["time"] }
      #expect(times.count == 2 && times == times.sorted() && Set(times).count == 2, "\(times)")
      #expect(try Self.wait(child, "phone") { $0.waiting == 0 }.delivered == 2)
    }

    @Test func certificatesAreVerified() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "ca-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let (certificate, key) = (folder.appending(path: "cert.pem"), folder.appending(path: "key.pem"))
      let made = try ChildProcess.run(
        "/usr/bin/openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key.path, "-out",
          certificate.path, "-days", "2", "-subj", "/CN=notified", "-addext", "subjectAltName=IP:127.0.0.1",
        ])
      try #require(made.status == 0, "\(made.error)")
      let server = try NotifiedServer(certificate: certificate, key: key)
      let base = "https://127.0.0.1:\(server.port)"
      let child = try ChildProcess(
        configuration: Self.configuration(
          "name: known, url: \"\(base)/known\", ca: \(certificate.path), events: [restart]",
          "name: wrong-name, url: \"https://localhost:\(server.port)/wrong\", ca: \(certificate.path), events: [restart]",
          "name: stranger, url: \"\(base)/stranger\", events: [restart]"))
      #expect(server.wait("/known").count == 1)
      for name in ["stranger", "wrong-name"] {
        let refused = try Self.wait(child, name) { $0.failuresInARow > 0 }
        #expect(refused.lastError?.contains("not trusted") == true, "\(refused)")
      }
      #expect(server.requests("/stranger").isEmpty && server.requests("/wrong").isEmpty)
    }

    @Test func redirectsAndRefusals() throws {
      let elsewhere = try NotifiedServer()
      let server = try NotifiedServer(elsewhere: "http://127.0.0.1:\(elsewhere.port)/ok")
      let base = "http://127.0.0.1:\(server.port)"
      let paths = ["here", "elsewhere", "moved", "401", "later"]
      let child = try ChildProcess(
        configuration: Self.configuration(
          paths.map { "name: n-\($0), url: \"\(base)/\($0)\", events: [restart]" }.joined(separator: "}\n  - {")))
      #expect(server.wait("/ok").first?["kind"] == "restart")
      #expect(try Self.wait(child, "n-here") { $0.delivered > 0 }.delivered == 1)
      for (name, words) in [("elsewhere", "not followed"), ("moved", "not followed"), ("401", "401")] {
        let refused = try Self.wait(child, "n-\(name)") { $0.failuresInARow > 0 && $0.waiting == 0 }
        #expect(refused.lastError?.contains(words) == true && refused.waiting == 0, "\(refused)")
        #expect(server.requests("/\(name)").count == 1)
      }
      #expect(try Self.wait(child, "n-later") { $0.delivered > 0 }.delivered == 1)
      #expect(server.requests("/later").count == 2)
      #expect(elsewhere.requests("/ok").isEmpty)
    }
  }
}
