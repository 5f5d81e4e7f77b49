import Foundation
import Testing

/// `make install` and the Debian packages, with the programs of this build.
extension RealPeers {
  @Suite struct InstallTests {
    private static let top = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    private let root = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")

    /// Every file below the root, as a path from there.
    private func files() throws -> Set<String> {
      let (output, _, _) = try ChildProcess.run("find", [root.path, "!", "-type", "d", "-printf", "/%P\\n"])
      return Set(output.split(separator: "\n").map(String.init))
    }

    private func install(_ arguments: [String]) throws {
      let (_, error, status) = try ChildProcess.run(
        Self.top.appending(path: "systemd/install").path,
        ["--programs", ChildProcess.program.deletingLastPathComponent().path, "--root", root.path] + arguments)
      try #require(status == 0, Comment(rawValue: error))
    }

    private func text(_ path: String) throws -> String {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func everythingIsWhereASystemLooksAndGoesAgain() throws {
      defer { try? FileManager.default.removeItem(at: root) }
      try install(["--prefix", "/usr/local", "child", "parent", "rendezvous"])
      let installed = try files()
      let expected = [
        "/etc/cradle/child.yaml", "/usr/local/bin/cradle-child", "/usr/local/bin/cradle-parent",
        "/usr/local/lib/systemd/system/cradle-child.service", "/usr/local/lib/systemd/user/cradle-parent@.service",
        "/usr/local/lib/sysusers.d/cradle-child.conf", "/usr/local/lib/udev/rules.d/70-cradle-child.rules",
        "/usr/local/share/applications/cradle-parent.desktop",
        "/usr/local/share/icons/hicolor/scalable/apps/cradle-parent.svg",
        "/usr/local/share/bash-completion/completions/cradle-child",
        "/usr/local/share/zsh/site-functions/_cradle-parent",
        "/usr/local/share/fish/vendor_completions.d/cradle-parent.fish",
        "/usr/local/share/man/man1/cradle-child.1", "/usr/local/share/man/man1/cradle-child-erase.1",
        "/usr/local/share/man/man1/cradle-parent-watch.1", "/usr/local/share/man/man5/cradle-child.yaml.5",
        "/etc/cradle/rendezvous.yaml", "/usr/local/bin/cradle-rendezvous",
        "/usr/local/lib/systemd/system/cradle-rendezvous.service", "/usr/local/lib/sysusers.d/cradle-rendezvous.conf",
        "/usr/local/share/bash-completion/completions/cradle-rendezvous",
        "/usr/local/share/doc/cradle-rendezvous/examples/turnserver.conf",
        "/usr/local/share/doc/cradle-rendezvous/examples/haproxy/haproxy.cfg",
        "/usr/local/share/man/man1/cradle-rendezvous-check.1", "/usr/local/share/man/man5/cradle-rendezvous.yaml.5",
      ]
      for path in expected { #expect(installed.contains(path), "\(path)") }
      // The services start what was installed.
      for unit in installed where unit.hasSuffix(".service") {
        let starts = try text(unit).split(separator: "\n").filter { $0.hasPrefix("Exec") }
        #expect(!starts.isEmpty)
        for start in starts where !start.hasPrefix("ExecReload=") {
          #expect(start.contains("=/usr/local/bin/cradle-"), "\(unit): \(start)")
        }
      }
      #expect(try ChildProcess.run(root.path + "/usr/local/bin/cradle-child", ["--version"]).status == 0)

      // State and configuration stay, until they shall not.
      let kept = ["/var/lib/cradle/identity.pem", "/var/lib/cradle-rendezvous/rendezvous.pem"]
      for file in kept.map({ root.appending(path: String($0.dropFirst())) }) {
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: file)
      }
      try install(["--prefix", "/usr/local", "--remove", "child", "parent", "rendezvous"])
      #expect(try files() == Set(kept + ["/etc/cradle/child.yaml", "/etc/cradle/rendezvous.yaml"]))
      // Each on its own: a machine may have both.
      try install(["--prefix", "/usr/local", "--remove", "--purge", "rendezvous"])
      #expect(try files() == ["/etc/cradle/child.yaml", "/var/lib/cradle/identity.pem"])
      try install(["--prefix", "/usr/local", "--remove", "--purge", "child", "parent"])
      #expect(try files().isEmpty)
    }

    @Test(arguments: [("child", "name: Nursery\n"), ("rendezvous", "names: [meet.example.org]\n")])
    func aChangedConfigurationIsKept(part: String, own: String) throws {
      defer { try? FileManager.default.removeItem(at: root) }
      try install(["--prefix", "/usr", part])
      try own.write(to: root.appending(path: "etc/cradle/\(part).yaml"), atomically: true, encoding: .utf8)
      try install(["--prefix", "/usr", part])
      #expect(try text("etc/cradle/\(part).yaml") == own)
      #expect(
        try text("etc/cradle/\(part).yaml.new")
          == String(contentsOf: Self.top.appending(path: "config/\(part).yaml"), encoding: .utf8))
    }

    @Test func forAnotherPrefixTheServicesGoWhereSystemdLooks() throws {
      defer { try? FileManager.default.removeItem(at: root) }
      try install(["--prefix", "/opt/cradle", "child", "rendezvous"])
      for name in ["cradle-child", "cradle-rendezvous"] {
        #expect(try text("etc/systemd/system/\(name).service").contains("ExecStart=/opt/cradle/bin/\(name) run"))
        #expect(try files().contains("/etc/sysusers.d/\(name).conf"))
      }
    }

    @Test func aPageForEveryCommand() throws {
      defer { try? FileManager.default.removeItem(at: root) }
      try install(["--prefix", "/usr", "child", "parent", "rendezvous"])
      struct Help: Decodable {
        struct Command: Decodable {
          var commandName: String
          var subcommands: [Command]?
        }
        var command: Command
      }
      for (program, atLeast) in [("cradle-child", 6), ("cradle-parent", 6), ("cradle-rendezvous", 3)] {
        let (output, _, _) = try ChildProcess.run(root.path + "/usr/bin/\(program)", ["--experimental-dump-help"])
        let help = try JSONDecoder().decode(Help.self, from: Data(output.utf8))
        let names = (help.command.subcommands ?? []).map(\.commandName).filter { $0 != "help" }
        #expect(names.count >= atLeast)
        for name in names {
          let page = try text("usr/share/man/man1/\(program)-\(name).1")
          #expect(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "\(name)")
        }
      }
      // What has to be written is shown as an example, and every default as one.
      let page = try text("usr/share/man/man5/cradle-rendezvous.yaml.5")
      let keys = page.split(separator: "\n").filter { $0.hasPrefix(".SS ") }
      #expect(keys.count == 8)
      #expect(page.matches(of: /\nFor example:\n/).count == 1 && page.matches(of: /\nDefault:\n/).count == 7)
      #expect(page.contains("\\fI/etc/cradle/rendezvous.yaml\\fR"))
    }

    /// In a folder of its own, where dpkg keeps its own book; the maintainer scripts are told so by DPKG_ROOT.
    @Test(.enabled(if: getuid() == 0, "installing packages needs root"))
    func packagesAreInstalledUpgradedAndPurged() throws {
      defer { try? FileManager.default.removeItem(at: root) }
      let house = root.appending(path: "house")
      for folder in ["updates", "info", "triggers"] {
        try FileManager.default.createDirectory(
          at: house.appending(path: "var/lib/dpkg/\(folder)"), withIntermediateDirectories: true)
      }
      try Data().write(to: house.appending(path: "var/lib/dpkg/status"))
      func shell(_ program: String, _ arguments: [String]) throws {
        let (output, error, status) = try ChildProcess.run(program, arguments)
        try #require(status == 0, "\(program) \(arguments): \(output)\(error)")
      }
      func build(_ version: String, _ packages: [String]) throws {
        try shell(
          Self.top.appending(path: "systemd/debian/build").path,
          [
            "--programs", ChildProcess.program.deletingLastPathComponent().path, "--output", root.path,
            "--version", version, "--quick",
          ] + packages)
      }
      func dpkg(_ arguments: [String]) throws {
        try shell(
          "dpkg",
          [
            "--root=\(house.path)", "--force-script-chrootless", "--force-depends", "--force-confold",
            "--log=/dev/null",
          ] + arguments)
      }
      func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: house.path + "/" + path) }
      let architecture = try ChildProcess.run("dpkg", ["--print-architecture"]).output
        .trimmingCharacters(in: .whitespacesAndNewlines)
      func package(_ name: String, _ version: String) -> String {
        "\(root.path)/\(name)_\(version)_\(architecture).deb"
      }

      let all = ["cradle-child", "cradle-parent", "cradle-rendezvous"]
      try build("1.0", all)
      // Programs for tests have the path to Swift's libraries in them; those of a release have the libraries.
      try shell(
        "lintian",
        ["--allow-root", "--fail-on", "error", "--suppress-tags", "custom-library-search-path"]
          + all.map { package($0, "1.0") })
      try dpkg(["--install"] + all.map { package($0, "1.0") })
      #expect(try ChildProcess.run(house.path + "/usr/bin/cradle-child", ["--version"]).status == 0)
      #expect(try text("house/etc/passwd").contains("cradle:x:"))
      func link(_ name: String) -> String {
        house.path + "/etc/systemd/system/multi-user.target.wants/\(name).service"
      }
      func isEnabled(_ name: String) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: link(name))) != nil
      }
      #expect(isEnabled("cradle-child"))
      // It lacks the server's names.
      #expect(try text("house/etc/passwd").contains("cradle-rendezvous:x:"))
      #expect(!isEnabled("cradle-rendezvous"))
      let checked = try ChildProcess.run(
        house.path + "/usr/bin/cradle-rendezvous", ["check", "--config", house.path + "/etc/cradle/rendezvous.yaml"])
      #expect(checked.status == 2 && checked.error.contains("names: is missing"), Comment(rawValue: "\(checked)"))

      let state = house.appending(path: "var/lib/cradle")
      try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
      try Data("key".utf8).write(to: state.appending(path: "identity.pem"))
      try "name: Nursery\n".write(to: house.appending(path: "etc/cradle/child.yaml"), atomically: true, encoding: .utf8)
      let names = "names: [meet.example.org]\n"
      try names.write(to: house.appending(path: "etc/cradle/rendezvous.yaml"), atomically: true, encoding: .utf8)
      let serverState = house.appending(path: "var/lib/cradle-rendezvous")
      try FileManager.default.createDirectory(at: serverState, withIntermediateDirectories: true)
      try Data("key".utf8).write(to: serverState.appending(path: "rendezvous.pem"))
      // Disabled by the administrator, it stays so; and enabled.
      try FileManager.default.removeItem(atPath: link("cradle-child"))
      try FileManager.default.createSymbolicLink(
        atPath: link("cradle-rendezvous"), withDestinationPath: "/usr/lib/systemd/system/cradle-rendezvous.service")
      let daemons = ["cradle-child", "cradle-rendezvous"]
      try build("1.1", daemons)
      try dpkg(["--install"] + daemons.map { package($0, "1.1") })
      #expect(try text("house/var/lib/cradle/identity.pem") == "key")
      #expect(try text("house/var/lib/cradle-rendezvous/rendezvous.pem") == "key")
      #expect(try text("house/etc/cradle/child.yaml") == "name: Nursery\n")
      #expect(try text("house/etc/cradle/rendezvous.yaml") == names)
      #expect(!isEnabled("cradle-child") && isEnabled("cradle-rendezvous"))

      try dpkg(["--remove"] + daemons)
      #expect(!exists("usr/bin/cradle-child") && !exists("usr/bin/cradle-rendezvous"))
      #expect(exists("var/lib/cradle/identity.pem") && exists("etc/cradle/child.yaml"))
      #expect(exists("var/lib/cradle-rendezvous/rendezvous.pem") && exists("etc/cradle/rendezvous.yaml"))
      // A machine may have both, and lose one.
      try dpkg(["--purge", "cradle-rendezvous"])
      #expect(!exists("var/lib/cradle-rendezvous") && !exists("etc/cradle/rendezvous.yaml"))
      #expect(!isEnabled("cradle-rendezvous") && exists("etc/cradle/child.yaml"))
      try dpkg(["--purge", "cradle-child", "cradle-parent"])
      #expect(!exists("var/lib/cradle") && !exists("etc/cradle"))
    }
  }
}
