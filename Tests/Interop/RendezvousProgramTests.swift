import Foundation
import Testing

/// The room server as whoever rents a machine for it meets it: its commands, its HTTPS, its start and its end. curl and
/// openssl are the clients. Who meets whom in its rooms is tested elsewhere.
extension RealPeers {
  @Suite struct RendezvousProgramTests {
    private let folder = RendezvousFolder()

    // MARK: - check

    @Test func aGoodConfigurationIsFine() throws {
      let file = try folder.write("rendezvous.yaml", RendezvousFolder.configuration)
      let (output, error, status) = try folder.command(["check", "--config", file])
      #expect(status == 0, Comment(rawValue: output + error))
      #expect(output.contains("ok    \(file): meet.example.org, [::]:443\n"), Comment(rawValue: output))
      #expect(output.contains("`key-sha256`"), Comment(rawValue: output))
    }

    @Test func whatAConfigurationNeedsIsLookedAt() throws {
      let certificate = try folder.certificate()
      func check(_ more: String) throws -> (output: String, error: String, status: Int32) {
        let file = try folder.write("rendezvous.yaml", RendezvousFolder.configuration + more + "\n")
        return try folder.command(["check", "--config", file])
      }
      let tls = "tls: {certificate: \(certificate).crt, key: \(certificate).key}"
      let good = try check(tls)
      #expect(good.status == 0 && !good.output.contains("key-sha256"), Comment(rawValue: "\(good)"))
      let missing = try check("tls: {certificate: /nonexistent.crt, key: \(certificate).key}")
      #expect(missing.status == 1 && missing.output.contains("FAIL  tls: "), Comment(rawValue: "\(missing)"))
      #expect(missing.output.contains("/nonexistent.crt"), Comment(rawValue: "\(missing)"))
      let secret = try check(#"ice-servers: [{urls: "turn:a", secret: {file: /nonexistent/secret}}]"#)
      #expect(secret.status == 1 && secret.output.contains("FAIL  ice-servers[0]: "), Comment(rawValue: "\(secret)"))
      #expect(secret.output.contains("/nonexistent/secret"), Comment(rawValue: "\(secret)"))
      let relay = #"ice-servers: [{urls: "turn:a", secret: b}]"# + "\n"
      for (more, words) in [("", "lent to nobody"), ("lend-after: 7d", "whoever makes a key may use the TURN servers")]
      {
        let warned = try check(relay + more)
        #expect(warned.status == 0 && warned.output.contains(words), Comment(rawValue: "\(warned)"))
        #expect(warned.output.contains("`children`"), Comment(rawValue: "\(warned)"))
      }
      let listed = try check(relay + "children: [\"a1b2c3d4e5f60718\"]")
      #expect(listed.status == 0 && !listed.output.contains("warn"), Comment(rawValue: "\(listed)"))
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: certificate + ".key")
      let open = try check(tls)
      #expect(open.status == 1 && open.output.contains("chmod 640 \(certificate).key"), Comment(rawValue: "\(open)"))
    }

    /// By both commands that read it, before anything else is done.
    @Test(arguments: ["run", "check"])
    func aBadConfigurationIsExplained(command: String) throws {
      let bad = try folder.write("bad.yaml", "names: [meet.example.org]\nmaximum-childs: 3\n")
      let slip = try folder.command([command, "--config", bad] + folder.directories(for: command))
      #expect(slip.status == 2, Comment(rawValue: "\(slip)"))
      #expect(slip.error.contains("\(bad):2:1: maximum-childs: unknown key"), Comment(rawValue: slip.error))
      let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let shipped = top.appending(path: "config/rendezvous.yaml").path
      let nameless = try folder.command([command, "--config", shipped] + folder.directories(for: command))
      #expect(nameless.status == 2, Comment(rawValue: "\(nameless)"))
      #expect(nameless.error.contains("\(shipped): names: is missing: the host"), Comment(rawValue: nameless.error))
      let none = try folder.command([command, "--config", "/nonexistent.yaml"] + folder.directories(for: command))
      #expect(none.status == 2 && none.error.contains("there is no such file"), Comment(rawValue: none.error))
      #expect(!FileManager.default.fileExists(atPath: folder.path("state")))
    }

    // MARK: - run, status

    @Test func itAnswersAndKeepsItsKey() throws {
      struct Status: Decodable {
        var names: [String]
        var version: String
        var keySHA256: String?
        var children: Int
        var connections: Int
        var uptimeSeconds: Double
      }
      let idle = try folder.command(["status"] + folder.directories)
      #expect(idle.status == 1 && idle.error.contains("the server does not run"), Comment(rawValue: idle.error))

      let first = try RendezvousProcess(folder)
      let json = try folder.command(["status", "--json"] + folder.directories).output
      let status = try JSONDecoder().decode(Status.self, from: Data(json.utf8))
      #expect(status.names == ["meet.example.org"] && status.children == 0 && status.connections == 0)
      let digest = try #require(status.keySHA256)
      #expect(try first.keySHA256() == digest)
      let text = try folder.command(["status"] + folder.directories).output
      #expect(text.contains("\n0 cameras here, 0 connections in all\n"))
      #expect(text.contains("key-sha256 for children: \(digest)\n"))

      #expect(try first.request("/healthz") == "200 text/plain; charset=utf-8: ok\n")
      #expect(try first.request("/metrics").contains("\ncradle_rendezvous_children 0\n"))
      for path in ["/", "/whep", "/healthz/more", "/%2e%2e/etc/passwd"] {
        let answer = try first.request(path)
        #expect(
          answer.hasPrefix("404 application/problem+json: ") && answer.contains("/signal"), Comment(rawValue: answer))
      }
      #expect(try first.request("/healthz", ["--data", "x"]).hasPrefix("404 "))

      #expect(try first.stop() == 0)
      #expect(!FileManager.default.fileExists(atPath: folder.path("run/rendezvous.sock")))
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("state/rendezvous.pem"))
      #expect((attributes[.posixPermissions] as? Int) == 0o600)
      let second = try RendezvousProcess(folder)
      #expect(try second.keySHA256() == digest)
      #expect(second.log.contains("key-sha256=\(digest)"), Comment(rawValue: second.log))
    }

    @Test func anAuthoritysCertificateIsShownAsItIs() throws {
      let certificate = try folder.certificate()
      let tls = "tls: {certificate: \(certificate).crt, key: \(certificate).key}\n"
      let server = try RendezvousProcess(folder, configuration: RendezvousFolder.configuration + tls)
      let trusted = try ChildProcess.run(
        "curl",
        [
          "-sf", "--max-time", "10", "--cacert", certificate + ".crt", "--resolve",
          "meet.example.org:\(server.port):127.0.0.1", "https://meet.example.org:\(server.port)/healthz",
        ])
      #expect(trusted.output == "ok\n", Comment(rawValue: "\(trusted)"))
      let status = try folder.command(["status", "--json"] + folder.directories).output
      #expect(status.contains(#""names""#) && !status.contains("keySHA256"), Comment(rawValue: status))
      #expect(!FileManager.default.fileExists(atPath: folder.path("state/rendezvous.pem")))
    }

    /// Under a service manager that the test plays.
    @Test func itSaysThatItIsReadyAndEndsAtOnce() throws {
      struct Seen: Decodable {
        var ready: Bool
        var accepts: Bool
        var readySeconds: Double
        var memoryKilobytes: Int
        var stopSeconds: Double
        var exit: Int32
        var told: [[String: String]]
        var log: String
      }
      let file = try folder.write("rendezvous.yaml", RendezvousFolder.configuration)
      let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "peers/service_manager.py")
      let (output, error, status) = try ChildProcess.run(
        "python3",
        [
          script.path, "--", RendezvousFolder.program.path, "run", "--config", file, "--listen", "127.0.0.1:{port}",
          "--state-directory", "{folder}/state", "--runtime-directory", "{folder}/run",
        ])
      try #require(status == 0, Comment(rawValue: error))
      let seen = try JSONDecoder().decode(Seen.self, from: Data(output.utf8))
      print(
        "ready after \(seen.readySeconds) s, \(seen.memoryKilobytes) kB resident, stopped in \(seen.stopSeconds) s"
          + " (an unoptimised build)")
      #expect(seen.ready && seen.accepts, Comment(rawValue: seen.log))
      #expect(seen.told.first?["STATUS"]?.hasPrefix("Serving at port ") == true, "\(seen.told)")
      #expect(seen.told.last?["STOPPING"] == "1")
      #expect(seen.exit == 0 && seen.stopSeconds < 2, Comment(rawValue: seen.log))
    }

    // MARK: - What does not start

    @Test func aDamagedKeyIsRefusedAndLeftAsItIs() throws {
      let damaged = "-----BEGIN PRIVATE KEY-----\nMIGHAgEA"
      let file = try folder.write("state/rendezvous.pem", damaged)
      let (_, error, status) = try folder.run()
      #expect(status == 1)
      #expect(error.contains("\(file) holds no key") && error.contains("left as it is"), Comment(rawValue: error))
      #expect(try String(contentsOfFile: file, encoding: .utf8) == damaged)
    }

    @Test func aPortInUseIsNamed() throws {
      let server = try RendezvousProcess(folder)
      let other = RendezvousFolder()
      let (_, error, status) = try other.run(listen: "127.0.0.1:\(server.port)")
      #expect(status == 1)
      #expect(error.contains("127.0.0.1:\(server.port) (listen) cannot be used: "), Comment(rawValue: error))
      #expect(error.contains("in use"), Comment(rawValue: error))
      #expect(try server.request("/healthz").hasPrefix("200 "))
    }
  }
}
