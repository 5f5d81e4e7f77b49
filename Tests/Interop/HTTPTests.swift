import Foundation
import Testing

/// The HTTP and command-line behaviour of docs/interfaces, against the real program. curl is the client.
extension RealPeers {
  @Suite struct HTTPTests {
    private func request(
      _ child: ChildProcess, _ path: String, _ arguments: [String] = [], token: String? = nil
    ) throws -> (status: Int, text: String) {
      let authorization = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
      let (output, _, _) = try ChildProcess.run(
        "curl",
        ["-sik", "--max-time", "10"] + authorization + arguments + ["https://127.0.0.1:\(child.port)\(path)"])
      let head = output.split(separator: "\r\n").last { $0.hasPrefix("HTTP/1.1 ") && !$0.contains("100 Continue") }
      return (head.flatMap { Int($0.split(separator: " ")[1]) } ?? 0, output)
    }

    @Test func answersAsTheErrorTableSays() throws {
      let child = try ChildProcess()
      let sdp = ["-H", "Content-Type: application/sdp"]
      let token = child.token
      #expect(try request(child, "/").text.contains("<title>Cradle</title>"))
      #expect(try request(child, "/healthz").status == 200)
      let metrics = try request(child, "/metrics").text
      #expect(metrics.contains("cradle_viewers 0") && metrics.contains("cradle_datagrams_lost_total 0"))
      // A reverse proxy on the board is not the board.
      for field in ["Forwarded: for=192.0.2.7", "X-Forwarded-For: 192.0.2.7", "Via: 1.1 proxy", "X-Real-IP: 192.0.2.7"]
      {
        #expect(try request(child, "/metrics", ["-H", field]).status == 401, "\(field)")
        #expect(try request(child, "/metrics", ["-H", field], token: token).status == 200, "\(field)")
        #expect(try request(child, "/healthz", ["-H", field]).status == 200, "\(field)")
      }
      // Nor is a page in a browser on the board whose name leads here (DNS rebinding), or a proxy that says nothing.
      for host in ["evil.example", "evil.example:\(child.port)", "baby.local:\(child.port)"] {
        #expect(try request(child, "/metrics", ["-H", "Host: \(host)"]).status == 401, "\(host)")
        #expect(try request(child, "/metrics", ["-H", "Host: \(host)"], token: token).status == 200, "\(host)")
      }
      #expect(try request(child, "/metrics", ["-H", "Host: localhost:\(child.port)"]).status == 200)
      #expect(try request(child, "/nothing").status == 401)
      #expect(try request(child, "/nothing", token: token).status == 404)
      let none = try request(child, "/whep", sdp + ["--data", "v=0"])
      #expect(none.status == 401)
      #expect(
        none.text.contains("application/problem+json") && none.text.lowercased().contains("www-authenticate: bearer"))
      #expect(try request(child, "/whep", sdp + ["--data", "v=0"], token: "cradle_wrong").status == 401)
      #expect(try request(child, "/whep", sdp + ["--data", "nonsense"], token: token).status == 400)
      #expect(try request(child, "/whep", ["--data", "v=0"], token: token).status == 415)
      #expect(
        try request(child, "/whep", sdp + ["-H", "Accept: text/html", "--data", "v=0"], token: token).status == 406)
      #expect(try request(child, "/whep/none", ["-X", "DELETE"], token: token).status == 404)
      let large = child.folder.appending(path: "large")
      try Data(repeating: 65, count: 70_000).write(to: large)
      #expect(try request(child, "/whep", sdp + ["--data-binary", "@\(large.path)"], token: token).status == 413)
      #expect(try request(child, "/", ["-X", "POST", "--data", "x"]).status == 405)
      #expect(try request(child, "/healthz").status == 200)
    }

    /// The page's files have a name that changes with them, so that browsers may keep them.
    @Test func thePageIsWholeAndKept() throws {
      let child = try ChildProcess()
      let index = try request(child, "/")
      #expect(index.text.contains("Content-Security-Policy: default-src 'none'; script-src 'self'"))
      let files = Set(index.text.matches(of: #/\/page\/[0-9a-f]{16}\/[\w\/.-]+/#).map { String($0.output) })
      #expect(files.count > 3)
      for file in files {
        let reply = try request(child, file)
        #expect(reply.status == 200 && reply.text.contains("immutable"), "\(file)")
      }
      #expect(try request(child, "/page/0123456789abcdef/app.js").status == 404)
      let tag = try #require(index.text.firstMatch(of: #/etag: ("\w+")/#.ignoresCase())).output.1
      #expect(try request(child, "/", ["-H", "If-None-Match: \(tag)"]).status == 304)
    }

    /// With the child's root certificate a browser has nothing to warn of.
    @Test func theRootCertificateMakesTheConnectionTrusted() throws {
      let child = try ChildProcess(listen: "127.0.0.1:0")
      let url = "https://127.0.0.1:\(child.port)"
      let file = child.folder.appending(path: "root.crt").path
      #expect(try ChildProcess.run("curl", ["-sfk", "-o", file, "\(url)/certificate.crt"]).status == 0)
      #expect(
        try ChildProcess.run("openssl", ["x509", "-inform", "DER", "-in", file, "-out", file + ".pem"]).status == 0)
      #expect(try ChildProcess.run("curl", ["-sf", "\(url)/healthz"]).status == 60)
      #expect(try ChildProcess.run("curl", ["-sf", "--cacert", file + ".pem", "\(url)/healthz"]).output == "ok\n")
      #expect(try request(child, "/certificate.mobileconfig").text.contains("com.apple.security.root"))
    }

    /// A page of another child may bring a link; only this child's own may try codes.
    @Test func pagesOfOthersPairByLinkAlone() throws {
      let child = try ChildProcess()
      func pair(_ message: String, origin: String) throws -> (status: Int, text: String) {
        try request(
          child, "/pair", ["-H", "Content-Type: application/json", "-H", "Origin: \(origin)", "--data", message])
      }
      let share = String(repeating: "A", count: 87), id = String(repeating: "A", count: 22)
      let foreign = "https://192.0.2.1:8443"
      let link = try pair(#"{"step":"link","id":"\#(id)","share":"\#(share)"}"#, origin: foreign)
      #expect(link.status == 403 && link.text.contains("unknown-link"))
      #expect(link.text.lowercased().contains("access-control-allow-origin: *"))
      #expect(try pair(#"{"step":"begin"}"#, origin: foreign).status == 409)
      #expect(try request(child, "/pair", ["-X", "OPTIONS"]).status == 204)
    }

    /// On every path that asks for a token, counted together.
    @Test(arguments: [["/whep"], ["/nothing"], ["/whep", "/whep/session", "/nothing"]])
    func wrongTokensAreSlowedDown(paths: [String]) throws {
      let child = try ChildProcess()
      let statuses = try (0..<14).map { number in
        try request(
          child, paths[number % paths.count], ["-H", "Content-Type: application/sdp", "--data", "v=0"], token: "wrong"
        ).status
      }
      #expect(statuses.first == 401)
      #expect(statuses.last == 429)
    }

    @Test func oneTokenHasFourSessionsAndAnotherStillGetsIn() throws {
      struct Added: Decodable { var token: String }
      let child = try ChildProcess()
      let offer = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/offer-chromium-recvonly.sdp")
      let post = ["-H", "Content-Type: application/sdp", "--data-binary", "@\(offer.path)"]
      let answers = try (0..<6).map { _ in try request(child, "/whep", post, token: child.token) }
      // None of them connects, so each gives way to the next.
      #expect(answers.map(\.status) == [201, 201, 201, 201, 201, 201])
      let viewers = try child.command(["status", "--json"]).output.matches(of: /"name":"test"/)
      #expect(viewers.count == 4)
      let added = try child.command(["token", "add", "--name", "other", "--allow", "view", "--json"])
      let other = try JSONDecoder().decode(Added.self, from: Data(added.output.utf8)).token
      #expect(try request(child, "/whep", post, token: other).status == 201)
    }

    @Test func aRevokedTokenEndsItsSessionAtOnce() async throws {
      let child = try ChildProcess(listen: "127.0.0.1:0")
      let url = "https://127.0.0.1:\(child.port)/whep"
      let token = child.token
      async let watching = Task.detached {
        try ViewerProgram.aiortc.watch(url, token: token, duration: 6)
      }.value
      let deadline = Date().addingTimeInterval(20)
      while Date() < deadline {
        if try child.command(["status", "--json"]).output.contains(#""state":"connected""#) { break }
        try await Task.sleep(for: .milliseconds(200))
      }
      #expect(try child.command(["token", "revoke", "test"]).status == 0)
      #expect(try child.command(["status", "--json"]).output.contains(#""viewers":[]"#))
      _ = try? await watching
      let refused = try request(
        child, "/whep", ["-H", "Content-Type: application/sdp", "--data", "v=0"], token: child.token)
      #expect(refused.status == 401)
    }
  }
}

extension RealPeers {
  @Suite struct ProgramTests {
    @Test func aBadConfigurationIsExplainedWithFileLineAndKey() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).yaml")
      try "name: A\ncameras:\n  - {id: a, widht: 3}\n".write(to: file, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(at: file) }
      for command in ["run", "check"] {
        let (_, error, status) = try ChildProcess.run(
          ChildProcess.program.path, [command, "--config", file.path])
        #expect(status == 2)
        #expect(error.contains("\(file.path):3:") && error.contains("widht"), Comment(rawValue: error))
      }
      #expect(try ChildProcess.run(ChildProcess.program.path, ["frobnicate"]).status == 2)
      #expect(try ChildProcess.run(ChildProcess.program.path, ["run", "--camera", "nonsense"]).status == 2)
    }

    @Test func aPortInUseAndASecondDaemonAreClearErrors() throws {
      let child = try ChildProcess()
      let other = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: other) }
      let taken = try ChildProcess.run(
        ChildProcess.program.path,
        [
          "run", "--camera", "test", "--microphone", "test", "--listen", "[::]:\(child.port)", "--state-directory",
          other.path, "--runtime-directory", other.path + "-run",
        ])
      #expect(taken.status == 1)
      #expect(taken.error.contains("cannot listen on [::]:\(child.port)"), Comment(rawValue: taken.error))
      let second = try ChildProcess.run(
        ChildProcess.program.path,
        [
          "run", "--camera", "test", "--microphone", "test", "--listen", "[::]:0", "--state-directory",
          child.folder.appending(path: "state").path, "--runtime-directory", other.path + "-run",
        ])
      #expect(second.status == 1)
      #expect(second.error.contains("in use by another"), Comment(rawValue: second.error))
      #expect(child.isRunning)
    }

    @Test func aHalfWrittenTokenStoreIsKeptAndReported() throws {
      let state = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: state) }
      let damaged = #"{"version":1,"tokens":[{"na"#
      let file = state.appending(path: "tokens.json")
      try damaged.write(to: file, atomically: true, encoding: .utf8)
      let (_, error, status) = try ChildProcess.run(
        ChildProcess.program.path,
        [
          "run", "--camera", "test", "--microphone", "test", "--listen", "[::]:0", "--state-directory", state.path,
          "--runtime-directory", state.path + "/run",
        ])
      #expect(status == 1)
      #expect(error.contains("tokens.json"), Comment(rawValue: error))
      #expect(try String(contentsOf: file, encoding: .utf8) == damaged)
    }

    @Test(arguments: ["pairs.json", "tokens.json"])
    func aStoreOfANewerProgramIsKeptAndExplained(name: String) throws {
      let state = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: state) }
      let newer = #"{"version":2,"something":"new"}"#
      let file = state.appending(path: name)
      try newer.write(to: file, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      let (_, error, status) = try ChildProcess.run(
        ChildProcess.program.path,
        [
          "run", "--camera", "test", "--microphone", "test", "--listen", "[::]:0", "--state-directory", state.path,
          "--runtime-directory", state.path + "/run",
        ])
      #expect(status == 1)
      #expect(error.contains("\(file.path) has version 2"), Comment(rawValue: error))
      #expect(try String(contentsOf: file, encoding: .utf8) == newer)
    }

    /// Also while it is starting: before it listens for signals, while it begins to, and right after.
    @Test func aStopAtAnyMomentIsNotLost() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      for milliseconds in stride(from: 0, to: 400, by: 20) {
        let process = Process()
        process.executableURL = ChildProcess.program
        process.arguments = [
          "run", "--camera", "test", "--microphone", "none", "--speaker", "none", "--listen", "127.0.0.1:0",
          "--state-directory", folder.path, "--runtime-directory", folder.path + "/run",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        usleep(UInt32(milliseconds) * 1000)
        process.terminate()
        let deadline = Date().addingTimeInterval(30)
        while process.isRunning, Date() < deadline { usleep(10_000) }
        guard !process.isRunning else {
          kill(process.processIdentifier, SIGKILL)
          Issue.record("SIGTERM after \(milliseconds) ms was lost")
          return
        }
      }
    }

    @Test func stopsCleanlyAndKeepsItsIdentity() throws {
      let child = try ChildProcess()
      let identity = child.folder.appending(path: "state/identity.pem")
      let attributes = try FileManager.default.attributesOfItem(atPath: identity.path)
      #expect((attributes[.posixPermissions] as? Int) == 0o600)
      #expect(child.stop() == 0)
      #expect(!FileManager.default.fileExists(atPath: child.folder.appending(path: "run/control.sock").path))
      let (_, error, status) = try child.command(["status"])
      #expect(status == 1 && error.contains("does not run"))
    }

    @Test func tokensAreListedWithoutTheirSecretAndKeptHashed() throws {
      let child = try ChildProcess()
      #expect(try child.command(["token", "add", "--name", "test"]).status == 1)
      #expect(try child.command(["token", "add", "--name", "x", "--allow", "fly"]).status == 1)
      let list = try child.command(["token", "list", "--json"])
      #expect(list.output.contains(#""name":"test""#) && !list.output.contains(child.token))
      let file = try String(contentsOf: child.folder.appending(path: "state/tokens.json"), encoding: .utf8)
      #expect(!file.contains(child.token))
      #expect(!child.logText.contains(child.token))
    }
  }
}
