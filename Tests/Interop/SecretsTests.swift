import Foundation
import Testing

/// Where secrets must not show, and what nobody can do over the network.
extension RealPeers {
  @Suite struct SecretsTests {
    @Test func theLogTellsNoSecret() throws {
      let house = try Household(arguments: ["--verbose"])
      let opened = try house.pair()
      #expect(try house.parent("light", "on").status == 0)
      let watch = try house.parent("watch", "--duration", "2", "--speaker", "null")
      #expect(watch.status == 0, Comment(rawValue: watch.error))
      let wrong = try ChildProcess.run(
        "curl", ["-sk", "-H", "Authorization: Bearer cradle_guessed", "https://\(house.address)/whep"])
      #expect(wrong.status == 0)
      let link = try house.open().link
      #expect(try house.child.command(["unpair", "--all"]).status == 0)
      #expect(house.child.stop() == 0)
      let identity = try String(contentsOf: house.child.folder.appending(path: "state/identity.pem"), encoding: .utf8)
      let key = identity.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
      let log = house.child.logText
      #expect(log.contains("paired") && log.contains("unpaired"))
      let secret = try #require(link.split(separator: "=").last)
      let secrets = [
        house.child.token, "cradle_guessed", opened.code, opened.code.replacing("-", with: ""), String(secret),
        String(opened.link.split(separator: "=").last ?? ""), String(key.prefix(40)), String(key.suffix(40)),
        "PRIVATE KEY",
      ]
      for secret in secrets { #expect(!log.contains(secret), "\(log)") }
    }

    /// Whoever pairs chooses a name, which stands in the log of the board.
    @Test func aNameForgesNothingInTheLog() throws {
      let house = try Household()
      let name =
        "x\" id=0000 by=\"forged\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2066}" + String(repeating: "\u{35f}", count: 40)
      let paired = try house.parent("pair", house.address, "--code", house.open().code, "--name", name)
      #expect(paired.status == 0, "\(paired)")
      let log = house.child.logText
      let line = try #require(log.split(separator: "\n").first { $0.contains("paired by=code") })
      #expect(
        line.contains(#"name="x\" id=0000 by=\"forged[2J31"#) && line.split(separator: "\\\"").count == 3, "\(line)")
      let isHarmful = { (scalar: Unicode.Scalar) in
        scalar != "\n" && [.control, .format].contains(scalar.properties.generalCategory)
      }
      let shown = try house.child.command(["pairs"]).output
      #expect(!(log + shown).unicodeScalars.contains(where: isHarmful))
      #expect((log + shown).unicodeScalars.count { $0 == "\u{35f}" } < 40)
    }

    /// Another user of the machine reads every process's arguments while codes and tokens are used.
    @Test func argumentsHoldNoSecretThatAFileHolds() throws {
      let house = try Household()
      let opened = try house.open()
      let secrets = house.child.folder.appending(path: "secrets")
      try FileManager.default.createDirectory(at: secrets, withIntermediateDirectories: true)
      func file(_ name: String, _ content: String, mode: mode_t = 0o600) throws -> String {
        let file = secrets.appending(path: name)
        try Data(content.utf8).write(to: file)
        #expect(chmod(file.path, mode) == 0)
        return file.path
      }
      let readable = try house.parent(
        "pair", house.address, "--code-file", file("readable", "\(opened.code)\n", mode: 0o644))
      #expect(
        readable.status == 2 && readable.error.contains("0644") && !readable.error.contains(opened.code), "\(readable)")
      let wrong = try house.parent("pair", house.address, "--code-file", file("wrong", "not a code"))
      #expect(wrong.status == 2 && !wrong.error.contains("not a code"), "\(wrong)")
      let paired = try house.parent("pair", house.address, "--code-file", file("code", "\n \(opened.code)\n"))
      #expect(paired.status == 0, "\(paired)")
      let url = "https://\(house.address)/whep"
      let token = try file("token", house.child.token)
      let watching = try ParentProcess(
        paired: secrets.appending(path: "state"), arguments: ["--whep", url, "--token-file", token])
      #expect(watching.wait { $0.framesPerSecond > 0 } != nil, Comment(rawValue: watching.log))
      let arguments = try String(contentsOfFile: "/proc/\(watching.processIdentifier)/cmdline", encoding: .utf8)
      #expect(arguments.contains("--token-file") && !arguments.contains(house.child.token))
      let program = "'\(ParentProcess.program.path)' watch --whep \(url) --token-file - --speaker null --duration 1"
      let fromInput = try ChildProcess.run(
        "sh", ["-c", "\(program) --state-directory '\(secrets.path)/state' < '\(token)'"])
      #expect(fromInput.status == 0, Comment(rawValue: fromInput.error))
    }

    /// A camera's password stands in its command, and the program says it as well, in words of its own.
    @Test func noPasswordOfACommandIsShown() throws {
      let server = try NotifiedServer()
      let password = "SECRETPW"
      let house = try Household(
        configuration: """
          name: Nursery
          cameras:
            - id: cot
              device: >-
                exec:sh -c 'echo "rtsp://admin:\(password)@192.0.2.1/1: error, \(password) refused, S%33CRETPW %53EC%52ET@PW SEC\\033[1mRETPW secretpw 5345435245545057 U0VDUkVUUFc=" >&2; exit 1'
                rtsp://admin:\(password)@192.0.2.1/1 --token=\(password)2 -uadmin:\(password)3 -p\(password)4 -P S3CRETPW
                http://192.0.2.1/?usr=a&loginpas=SECRET%40PW
          microphone: {device: none}
          speaker: {device: none}
          notify: [{name: phone, url: "http://127.0.0.1:\(server.port)/ok", events: [camera-lost]}]
          """, arguments: ["--verbose"])
      try house.pair()
      let told = try #require(server.wait("/ok").first)
      #expect(told["kind"] == "camera-lost" && told.body.contains("exec:sh"), Comment(rawValue: told.body))
      var shown = [told.body]
      for command in [["status"], ["status", "--json"], ["notify", "--json"]] {
        shown.append(try house.child.command(command).output)
      }
      for command in [["status"], ["status", "--json"], ["events", "--json"], ["camera", "list", "--json"]] {
        let said = try ChildProcess.run(
          ParentProcess.program.path, command + ["--state-directory", house.state.path])
        #expect(said.status == 0, Comment(rawValue: said.error))
        shown.append(said.output)
      }
      let file = house.child.folder.appending(path: "child.yaml").path
      for command in [["check", "--config", file], ["doctor", "--config", file]] {
        let said = try house.child.command(command)
        shown.append(said.output + said.error)
      }
      shown.append(house.child.logText)
      for (index, text) in shown.enumerated() {
        for secret in [
          password, "S3CRETPW", "S%33CRET", "SECRET%40", "ET@PW", "SEC[1m", "secretpw", "53454352", "U0VDUk",
        ] {
          #expect(!text.contains(secret), "\(index): \(text)")
        }
        #expect(index == 3 || text.contains("***"), "\(index): \(text)")
      }
    }

    /// A crash leaves no memory behind, even where the system would keep all of it.
    @Test func aCrashOfTheChildLeavesNoCoreDump() throws {
      try Self.withFolder { folder in
        let house = try Household(prefix: Self.dumpingTo(folder))
        try Self.checkThatNothingIsLeft(of: house.child.processIdentifier, in: folder)
      }
    }

    @Test func aCrashOfTheParentLeavesNoCoreDump() throws {
      try Self.withFolder { folder in
        let child = try ChildProcess()
        let parent = try ParentProcess(
          "https://127.0.0.1:\(child.port)/whep", token: child.token, arguments: ["--mute"],
          prefix: Self.dumpingTo(folder))
        #expect(parent.wait { $0.framesDecoded > 0 } != nil, Comment(rawValue: parent.log))
        try Self.checkThatNothingIsLeft(of: parent.processIdentifier, in: folder)
      }
    }

    private static func withFolder(_ body: (URL) throws -> Void) throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      try body(folder)
    }

    /// What is put before a program so that the system would dump it. `swift test` sets `SWIFT_BACKTRACE`, whose program
    /// would take its time over the crash.
    private static func dumpingTo(_ folder: URL) -> [String] {
      ["SWIFT_BACKTRACE=enable=no", "sh", "-c", "ulimit -c unlimited && cd \(folder.path) && exec \"$@\"", "sh"]
    }

    private static func checkThatNothingIsLeft(of process: Int32, in folder: URL) throws {
      let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
      let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
      #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(core)")
      kill(process, SIGABRT)
      // proc(5): it has ended, whoever has noticed.
      let stat = "/proc/\(process)/stat"
      var isOver = false
      for _ in 0..<200 where !isOver {
        usleep(50_000)
        isOver = (try? String(contentsOfFile: stat, encoding: .utf8)).map { $0.contains(") Z ") } ?? true
      }
      #expect(isOver)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(arguments: ["identity.pem", "tokens.json"])
    func aKeyFileThatOthersMayReadIsRefusedAtTheStart(name: String) throws {
      let child = try ChildProcess()
      let file = child.folder.appending(path: "state/\(name)").path
      #expect(child.stop() == 0)
      let before = try Data(contentsOf: URL(filePath: file))
      #expect(chmod(file, 0o644) == 0)
      for command in ["run", "check"] {
        let (output, error, status) = try child.command([
          command, "--camera", "test", "--microphone", "test", "--listen", "127.0.0.1:0",
        ])
        #expect(status == 1)
        let said = output + error
        #expect(said.contains("\(file) has mode 0644") && said.contains("chmod 600 \(file)"), Comment(rawValue: said))
      }
      #expect(try Data(contentsOf: URL(filePath: file)) == before)
    }

    /// As above, for the parent: its commands say what to type.
    @Test(arguments: ["identity.pem", "pairs.json"])
    func aKeyFileOfTheParentThatOthersMayReadIsRefused(name: String) throws {
      let house = try Household()
      _ = try house.pair()
      let file = house.state.appending(path: name).path
      #expect(chmod(file, 0o644) == 0)
      for command in [["light", "on"], ["children"]] {
        let said = try ChildProcess.run(
          ParentProcess.program.path, command + ["--state-directory", house.state.path])
        #expect(said.status == 1 && said.error.contains("chmod 600 \(file)"), Comment(rawValue: said.error))
      }
      #expect(chmod(file, 0o600) == 0)
      #expect(try house.parent("light", "on").status == 0)
    }

    /// The family's own certificate: here the child's, with the identity as its key.
    @Test func anOwnCertificateIsCheckedWithItsKey() throws {
      let child = try ChildProcess()
      let fetched = try ChildProcess.run(
        "python3", ["-c", "import ssl; print(ssl.get_server_certificate(('127.0.0.1', \(child.port))))"])
      let certificate = child.folder.appending(path: "tls.crt")
      let key = child.folder.appending(path: "tls.key")
      try fetched.output.write(to: certificate, atomically: true, encoding: .utf8)
      try FileManager.default.copyItem(at: child.folder.appending(path: "state/identity.pem"), to: key)
      let file = child.folder.appending(path: "own.yaml")
      try (ChildProcess.testConfiguration + "\ntls: {certificate: \(certificate.path), key: \(key.path)}\n")
        .write(to: file, atomically: true, encoding: .utf8)
      func check() throws -> (said: String, status: Int32) {
        let (output, error, status) = try child.command(["check", "--config", file.path])
        return (output + error, status)
      }
      let good = try check()
      #expect(good.status == 0 && good.said.contains("goes with its key"), Comment(rawValue: good.said))
      #expect(chmod(key.path, 0o644) == 0)
      let open = try check()
      #expect(open.status == 1 && open.said.contains("chmod 640 \(key.path)"), Comment(rawValue: open.said))
      #expect(chmod(key.path, 0o600) == 0)
      let stranger = try ChildProcess()
      try FileManager.default.removeItem(at: key)
      try FileManager.default.copyItem(at: stranger.folder.appending(path: "state/identity.pem"), to: key)
      let wrong = try check()
      #expect(wrong.status == 1 && wrong.said.contains("tls"), Comment(rawValue: wrong.said))
    }

    /// No path takes orders or settings, with a token of all permissions or without one.
    @Test func nothingIsChangedOverHTTP() throws {
      let child = try ChildProcess(allow: "view,listen,talk,control")
      let configuration = child.folder.appending(path: "child.yaml")
      let files = [configuration, child.folder.appending(path: "state/identity.pem")]
      let before = try files.map { try Data(contentsOf: $0) }
      let paths = [
        "/config", "/child.yaml", "/token", "/pairs", "/status", "/light", "/admin", "/whep/..", "/../etc/passwd",
      ]
      for token in [nil, child.token] {
        let authorization = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
          let (output, _, _) = try ChildProcess.run(
            "curl",
            ["-sk", "--path-as-is", "-w", "%{http_code}\n", "-X", method, "-d", "name: Other"] + authorization
              + paths.flatMap { ["-o", "/dev/null", "https://127.0.0.1:\(child.port)\($0)"] })
          let statuses = Set(output.split(separator: "\n"))
          #expect(statuses.isSubset(of: token == nil ? ["401"] : ["404", "405"]), "\(method): \(output)")
        }
      }
      #expect(try files.map { try Data(contentsOf: $0) } == before)
    }
  }
}
