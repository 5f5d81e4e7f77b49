import Foundation
import Testing

/// What the HTTPS port shows browsers when files, addresses, names and clocks change under a real child.
extension RealPeers {
  @Suite struct CertificateTests {
    // MARK: Files of the family's own

    /// A certificate and its key in files that are replaced.
    private struct Pair {
      let folder: URL
      var certificate: String { folder.appending(path: "served.pem").path }
      var key: String { folder.appending(path: "served.key").path }
      var tls: String { "tls: {certificate: \(certificate), key: \(key)}\n" }

      init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      }

      /// - Parameter from: the day of its beginning.
      func make(_ name: String, days: Int, from: Date = Date()) throws {
        func text(_ date: Date) -> String {
          date.formatted(.iso8601.year().month().day().dateSeparator(.omitted)) + "000000Z"
        }
        let path = folder.appending(path: name).path
        // `openssl req -x509` of Debian 12 knows no date of the beginning; `ca` does.
        let made = try ChildProcess.run(
          "openssl",
          [
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "\(path).key",
            "-out", "\(path).csr", "-subj", "/CN=\(name)",
          ])
        #expect(made.status == 0, Comment(rawValue: made.error))
        _ = FileManager.default.createFile(atPath: "\(path).index", contents: Data())
        let configuration = """
          [ca]
          default_ca = own
          [own]
          database = \(path).index
          new_certs_dir = \(folder.path)
          rand_serial = yes
          policy = any
          [any]
          commonName = supplied
          """
        try configuration.write(toFile: "\(path).cnf", atomically: true, encoding: .utf8)
        let signed = try ChildProcess.run(
          "openssl",
          [
            "ca", "-batch", "-config", "\(path).cnf", "-selfsign", "-md", "sha256", "-keyfile", "\(path).key",
            "-in", "\(path).csr", "-out", "\(path).pem", "-startdate", text(from), "-enddate",
            text(from.addingTimeInterval(Double(days + 1) * 86_400)), "-notext",
          ])
        #expect(signed.status == 0, Comment(rawValue: signed.error))
        chmod("\(path).key", 0o600)
      }

      /// As certbot's hooks do: written beside, then renamed.
      func serve(_ name: String, parts: [String] = ["pem", "key"]) throws {
        for part in parts {
          let path = folder.appending(path: "served.\(part)")
          let new = folder.appending(path: "new.\(part)")
          try FileManager.default.copyItem(at: folder.appending(path: "\(name).\(part)"), to: new)
          rename(new.path, path.path)
        }
      }

      func remove() { try? FileManager.default.removeItem(at: folder) }
    }

    /// Of the certificate at the port, as openssl prints it.
    private static func shown(_ port: Int, at host: String = "127.0.0.1", prefix: [String] = []) throws -> String {
      let command =
        "openssl s_client -connect \(host):\(port) </dev/null 2>/dev/null"
        + " | openssl x509 -noout -subject -dates -issuer -ext subjectAltName"
      let arguments = prefix + ["sh", "-c", command]
      return try ChildProcess.run(arguments[0], Array(arguments.dropFirst())).output
    }

    private static func until(
      _ what: String, seconds: Double = 30, _ condition: () throws -> Bool,
      _ location: SourceLocation = #_sourceLocation
    ) throws {
      let end = Date().addingTimeInterval(seconds)
      while try !condition() {
        guard Date() < end else {
          Issue.record("not seen: \(what)", sourceLocation: location)
          return
        }
        usleep(200_000)
      }
    }

    @Test func aRenewedCertificateIsServed() throws {
      let pair = try Pair()
      defer { pair.remove() }
      try pair.make("one", days: 30)
      try pair.make("two", days: 60)
      try pair.serve("one")
      let child = try ChildProcess(configuration: ChildProcess.testConfiguration + "\n" + pair.tls)
      #expect(try Self.shown(child.port).contains("CN = one"))
      // Half of it: the old one stays, and the log says why.
      try pair.serve("two", parts: ["pem"])
      try Self.until("the log") { child.logText.contains("cannot be used; the one before stays") }
      #expect(try Self.shown(child.port).contains("CN = one"))
      try pair.serve("two", parts: ["key"])
      try Self.until("the new one") { try Self.shown(child.port).contains("CN = two") }
      #expect(child.logText.contains("new connections get it"))
      #expect(child.isRunning)
    }

    @Test func anAuthoritysCertificateOfTheRoomServerIsServed() throws {
      let pair = try Pair()
      defer { pair.remove() }
      let folder = RendezvousFolder()
      try pair.make("one", days: 30)
      try pair.make("two", days: 5)
      try pair.serve("one")
      let configuration = RendezvousFolder.configuration + pair.tls
      let server = try RendezvousProcess(folder, configuration: configuration)
      #expect(try Self.shown(server.port).contains("CN = one"))
      try pair.serve("two")
      try Self.until("the new one") { try Self.shown(server.port).contains("CN = two") }
      let file = try folder.write("check.yaml", configuration)
      let check = try folder.command(["check", "--config", file])
      #expect(check.status == 0 && check.output.contains("warn  tls: "), Comment(rawValue: "\(check)"))
      #expect(check.output.contains("expires in 5 days"), Comment(rawValue: check.output))
    }

    @Test(arguments: [(60, 0, "ok", 0), (14, 0, "warn", 0), (3, 0, "warn", 0), (3, -10, "FAIL", 1), (60, 2, "FAIL", 1)])
    func checkKnowsTheEnd(days: Int, begins: Int, label: String, status: Int32) throws {
      let pair = try Pair()
      defer { pair.remove() }
      // Whole days: the end is at midnight.
      try pair.make("one", days: days - 1, from: Date().addingTimeInterval(Double(begins) * 86_400))
      try pair.serve("one")
      let file = pair.folder.appending(path: "child.yaml")
      try (ChildProcess.testConfiguration + "\n" + pair.tls).write(to: file, atomically: true, encoding: .utf8)
      for command in ["check", "doctor"] {
        let found = try ChildProcess.run(
          ChildProcess.program.path,
          [
            command, "--config", file.path, "--state-directory", pair.folder.appending(path: "state").path,
            "--runtime-directory", pair.folder.appending(path: "run").path,
          ])
        let line = found.output.split(separator: "\n").first { $0.contains("certificate") } ?? ""
        #expect(line.contains(pair.certificate), "\(found)")
        if command == "check" { #expect(line.hasPrefix(label) && found.status == status, "\(found)") }
        let words = begins > 0 ? "is not valid yet" : begins < 0 ? "expired" : "expires in"
        #expect(line.contains(words), "\(found)")
      }
    }

    // MARK: The node's own

    private struct Shown: Decodable {
      struct Root: Decodable {
        var fingerprint: String
        var hosts: [String]
        var missing: [String]
      }
      var root: Root?
      var fingerprint: String
      var hosts: [String]
    }

    private static func certificate(_ child: ChildProcess, _ command: String = "show") throws -> Shown {
      let (output, error, _) = try child.command(["certificate", command, "--json"])
      #expect(error.isEmpty, Comment(rawValue: error))
      return try JSONDecoder().decode(Shown.self, from: Data(output.utf8))
    }

    @Test(.enabled(if: getuid() == 0, "network namespaces need root"))
    func aNewAddressAndANewNameAreFollowed() throws {
      let hosts = try TwoHosts(isIPv6: false)
      // A host name of the child's own, which the test sets.
      let named =
        hosts.prefix(hosts.child) + ["unshare", "--uts", "sh", "-c", "hostname \"$(cat \"$0\")\"; exec \"$@\""]
      let name = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: name) }
      try "nursery".write(to: name, atomically: true, encoding: .utf8)
      let child = try ChildProcess(prefix: named + [name.path])
      let inside = hosts.prefix(hosts.child)
      let first = try Self.certificate(child)
      #expect(
        first.hosts == ["nursery.local", "10.77.3.1"] && first.root?.hosts == first.hosts && first.root?.missing == [])
      #expect(try Self.shown(child.port, prefix: inside).contains("DNS:nursery.local, IP Address:10.77.3.1"))
      let pairs = try String(contentsOf: child.folder.appending(path: "state/identity.pem"), encoding: .utf8)

      // While it runs: the name is still good, so the certificate that browsers know stays.
      try ChildProcess.ip(hosts.child, "addr", "del", "10.77.3.1/24", "dev", "cable")
      try ChildProcess.ip(hosts.child, "addr", "add", "10.77.3.7/24", "dev", "cable")
      try Self.until("the new address") { child.logText.contains("not-for=10.77.3.7") }
      let moved = try Self.certificate(child)
      #expect(moved.root?.missing == ["10.77.3.7"] && moved.fingerprint == first.fingerprint)
      let doctor = try child.command(["doctor", "--config", child.folder.appending(path: "child.yaml").path])
      #expect(doctor.output.contains("not for 10.77.3.7") && doctor.output.contains("certificate renew"))

      // With another name, too, nothing is left of the root: its own certificate has names all the same.
      try "parlour".write(to: name, atomically: true, encoding: .utf8)
      try child.restart()
      let alone = try Self.shown(child.port, prefix: inside)
      #expect(alone.contains("DNS:parlour.local, IP Address:10.77.3.7"), Comment(rawValue: alone))
      #expect(try Self.certificate(child).fingerprint != first.fingerprint)
      #expect(child.logText.contains("issued again"), Comment(rawValue: child.logText))

      let renewed = try Self.certificate(child, "renew")
      #expect(renewed.root?.hosts == ["parlour.local", "10.77.3.7"] && renewed.root?.missing == [])
      #expect(renewed.root?.fingerprint != first.root?.fingerprint)
      let last = try Self.shown(child.port, prefix: inside)
      #expect(last.contains("DNS:parlour.local, IP Address:10.77.3.7") && last.contains("issuer=CN = Cradle Test"))
      #expect(
        try String(contentsOf: child.folder.appending(path: "state/identity.pem"), encoding: .utf8) == pairs,
        "the key that parents know stays")
      try child.restart()
      #expect(try Self.certificate(child).root?.fingerprint == renewed.root?.fingerprint)
    }

    /// What a browser's exception and a player's fingerprint are for.
    @Test func aRestartShowsTheSameCertificate() throws {
      let child = try ChildProcess()
      let served = try Self.fingerprint(child.port)
      #expect(try Self.certificate(child).fingerprint == served)
      let file = child.folder.appending(path: "state/certificate.pem")
      try Self.until("the file") { FileManager.default.fileExists(atPath: file.path) }
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      try child.restart()
      #expect(try Self.fingerprint(child.port) == served)
      child.kill()
      try child.restart()
      #expect(try Self.fingerprint(child.port) == served)

      // Damaged, it is made again, which the log says at that start alone.
      _ = child.stop()
      try "-----BEGIN CERTIFICATE-----\nAAAA\n".write(to: file, atomically: false, encoding: .utf8)
      try child.restart()
      let second = try Self.fingerprint(child.port)
      #expect(second != served)
      try Self.until("the file") { try String(contentsOf: file, encoding: .utf8).contains("END CERTIFICATE") }
      try child.restart()
      #expect(try Self.fingerprint(child.port) == second)
      let said = child.logText.components(separatedBy: "cannot be used, so another is made").count - 1
      #expect(said == 1, Comment(rawValue: child.logText))
    }

    /// "Advanced, Proceed" is for one certificate: the open page and a reload go on after a restart.
    @Test func aBrowsersExceptionOutlastsARestart() throws {
      struct Seen: Decodable {
        var steps: [String]
        var error: String?
      }
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let (output, log, _) = try ChildProcess.run(
        root.appending(path: ".build/venv/bin/python").path,
        [
          root.appending(path: "Tests/Interop/peers/certificate_exception.py").path, "--program",
          ChildProcess.program.path,
        ])
      let line = try #require(output.split(separator: "\n").last, Comment(rawValue: log))
      let seen = try JSONDecoder().decode(Seen.self, from: Data(line.utf8))
      #expect(seen.error == nil && seen.steps == ["200 open", "200 open", "Cradle"], "\(seen)")
    }

    /// `AB:CD:…`, SHA-256 of the certificate at the port.
    private static func fingerprint(_ port: Int) throws -> String {
      let command =
        "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null | openssl x509 -noout -fingerprint -sha256"
      let output = try ChildProcess.run("sh", ["-c", command]).output
      return String(try #require(output.split(separator: "=").last).prefix { $0 != "\n" })
    }

    // MARK: Clocks

    /// libfaketime: a wall clock of its own for one program, in a file that the test changes.
    private static let library = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketimeMT.so.1" }
      .first { FileManager.default.fileExists(atPath: $0) }

    private static func year(_ text: String, _ word: String) -> Int? {
      text.split(separator: "\n").first { $0.hasPrefix(word) }
        .flatMap { $0.split(separator: " ").dropLast().last }.flatMap { Int($0) }
    }

    private final class Clock {
      let file = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")

      init(_ setting: String) throws { try set(setting) }

      deinit { try? FileManager.default.removeItem(at: file) }

      /// `+0` or `+1700d`, or `@1970-01-01 00:01:00`
      func set(_ setting: String) throws {
        try (setting + "\n").write(to: file, atomically: true, encoding: .utf8)
      }

      /// The library moves the environment of the first program that it meets; Swift finds its arguments beside it.
      var prefix: [String] {
        [
          "LD_PRELOAD=\(CertificateTests.library ?? "")", "FAKETIME_TIMESTAMP_FILE=\(file.path)", "FAKETIME_NO_CACHE=1",
          "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_FORCE_MONOTONIC_FIX=0", "env",
        ]
      }
    }

    private static let thisYear = Calendar(identifier: .gregorian).component(.year, from: Date())

    private static func status(_ child: ChildProcess, _ token: String) throws -> String {
      try ChildProcess.run(
        "curl",
        [
          "-sk", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer \(token)",
          "https://127.0.0.1:\(child.port)/metrics-not",
        ]
      ).output
    }

    private static func token(_ child: ChildProcess, _ name: String, for time: String) throws -> String {
      struct Added: Decodable { var token: String }
      let (output, error, _) = try child.command([
        "token", "add", "--name", name, "--allow", "view", "--for", time, "--json",
      ])
      #expect(error.isEmpty, Comment(rawValue: error))
      return try JSONDecoder().decode(Added.self, from: Data(output.utf8)).token
    }

    @Test(.enabled(if: library != nil, "the package libfaketime is missing"))
    func oneStartInAnotherYearLeavesNothing() throws {
      let clock = try Clock("+0")
      let child = try ChildProcess(prefix: clock.prefix)
      let token = try Self.token(child, "year", for: "365d")
      #expect(try Self.status(child, token) == "404")
      let before = try Self.shown(child.port)
      #expect(
        [Self.thisYear, Self.thisYear - 1].contains(Self.year(before, "notBefore") ?? 0), Comment(rawValue: before))

      try clock.set("+1769d")
      try child.restart()
      #expect(try Self.status(child, token) == "401", "while the clock says that it has expired")
      #expect(Self.year(try Self.shown(child.port), "notBefore") ?? 0 >= Self.thisYear + 4)
      sleep(2)

      try clock.set("+0")
      try child.restart()
      let after = try Self.shown(child.port)
      #expect(
        [Self.thisYear, Self.thisYear - 1].contains(Self.year(after, "notBefore") ?? 0), Comment(rawValue: after))
      #expect(try Self.status(child, token) == "404")
      #expect(child.logText.contains("turned out to be wrong"), Comment(rawValue: child.logText))
    }

    /// A clock that is set while the child runs: first boots before the network, and batteries that died.
    @Test(
      .enabled(if: library != nil, "the package libfaketime is missing"), arguments: ["@1970-01-01 00:01:00", "+1769d"])
    func theCertificateFollowsTheClock(wrong: String) throws {
      let clock = try Clock(wrong)
      let child = try ChildProcess(prefix: clock.prefix)
      let first = try Self.shown(child.port)
      #expect(Self.year(first, "notBefore") != Self.thisYear, Comment(rawValue: first))
      try clock.set("+0")
      try Self.until("another certificate") { try Self.shown(child.port) != first }
      let shown = try Self.shown(child.port)
      #expect(
        [Self.thisYear, Self.thisYear - 1].contains(Self.year(shown, "notBefore") ?? 0), Comment(rawValue: shown))
      let end = Self.year(shown, "notAfter") ?? 0
      #expect(Self.thisYear...Self.thisYear + 3 ~= end, Comment(rawValue: shown))
      #expect(child.logText.contains("issued again"), Comment(rawValue: child.logText))
    }

    /// Somebody who answers NTP sets the clock back: a token whose time is over stays refused, also after a restart.
    @Test(.enabled(if: library != nil, "the package libfaketime is missing"), arguments: ["-1h", "-3d", "-400d"])
    func aClockSetBackRevivesNoToken(back: String) throws {
      let clock = try Clock("+0")
      let child = try ChildProcess(prefix: clock.prefix)
      let token = try Self.token(child, "short", for: "2s")
      try Self.until("its end") { try Self.status(child, token) == "401" }
      try clock.set(back)
      #expect(try Self.status(child, token) == "401")
      try child.restart()
      #expect(try Self.status(child, token) == "401")
      child.kill()
      try child.restart()
      #expect(try Self.status(child, token) == "401")
    }
  }
}

extension ChildProcess {
  /// `ip -n HOST …`
  static func ip(_ host: String, _ arguments: String...) throws {
    let (_, error, status) = try run("ip", ["-n", host] + arguments)
    guard status == 0 else { throw Problem(description: "ip \(arguments): \(error)") }
  }
}
