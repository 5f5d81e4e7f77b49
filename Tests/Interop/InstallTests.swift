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
      try install(["--prefix", "/usr/local", "child", "parent"])
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
      ]
      for path in expected { #expect(installed.contains(path), "\(path)") }
      // The services start what was installed.
      for unit in installed where unit.hasSuffix(".service") {
        let starts = try text(unit).split(separator: "\n").filter { $0.hasPrefix("Exec") }
        #expect(!starts.isEmpty)
        for start in starts { #expect(start.contains("=/usr/local/bin/cradle-"), "\(unit): \(start)") }
      }
      #expect(try ChildProcess.run(root.path + "/usr/local/bin/cradle-child", ["--version"]).status == 0)

      // State and configuration stay, until they shall not.
      let state = root.appending(path: "var/lib/cradle")
      try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
      try Data().write(to: state.appending(path: "identity.pem"))
      try install(["--prefix", "/usr/local", "--remove", "child", "parent"])
      #expect(try files() == ["/etc/cradle/child.yaml", "/var/lib/cradle/identity.pem"])
      try install(["--prefix", "/usr/local", "--remove", "--purge", "child", "parent"])
      #expect(try files().isEmpty)
    }

    @Test func aChangedConfigurationIsKept() throws {
      defer { try? FileManager.default.removeItem(at: root) }
      try install(["--prefix", "/usr", "child"])
      try "name: Nursery\n".write(to: root.appending(path: "etc/cradle/child.yaml"), atomically: true, encoding: .utf8)
      try install(["--prefix", "/usr", "child"])
      #expect(try text("etc/cradle/child.yaml") == "name: Nursery\n")
      #expect(
        try text("etc/cradle/child.yaml.new")
          == String(contentsOf: Self.top.appending(path: "config/child.yaml"), encoding: .utf8))
    }

    @Test func forAnotherPrefixTheServicesGoWhereSystemdLooks() throws {
      defer { try? FileManager.default.removeItem(at: root) }
      try install(["--prefix", "/opt/cradle", "child"])
      #expect(
        try text("etc/systemd/system/cradle-child.service").contains("ExecStart=/opt/cradle/bin/cradle-child run"))
      #expect(try files().contains("/etc/sysusers.d/cradle-child.conf"))
    }

    @Test func aPageForEveryCommand() throws {
      defer { try? FileManager.default.removeItem(at: root) }
      try install(["--prefix", "/usr", "child", "parent"])
      struct Help: Decodable {
        struct Command: Decodable {
          var commandName: String
          var subcommands: [Command]?
        }
        var command: Command
      }
      for program in ["cradle-child", "cradle-parent"] {
        let (output, _, _) = try ChildProcess.run(root.path + "/usr/bin/\(program)", ["--experimental-dump-help"])
        let help = try JSONDecoder().decode(Help.self, from: Data(output.utf8))
        let names = (help.command.subcommands ?? []).map(\.commandName).filter { $0 != "help" }
        #expect(names.count > 5)
        for name in names {
          let page = try text("usr/share/man/man1/\(program)-\(name).1")
          #expect(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "\(name)")
        }
      }
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

      try build("1.0", ["cradle-child", "cradle-parent"])
      // Programs for tests have the path to Swift's libraries in them; those of a release have the libraries.
      try shell(
        "lintian",
        ["--allow-root", "--fail-on", "error", "--suppress-tags", "custom-library-search-path"]
          + ["cradle-child", "cradle-parent"].map { package($0, "1.0") })
      try dpkg(["--install", package("cradle-child", "1.0"), package("cradle-parent", "1.0")])
      #expect(try ChildProcess.run(house.path + "/usr/bin/cradle-child", ["--version"]).status == 0)
      #expect(try text("house/etc/passwd").contains("cradle:x:"))
      let enabled = house.path + "/etc/systemd/system/multi-user.target.wants/cradle-child.service"
      #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: enabled)) != nil)

      let state = house.appending(path: "var/lib/cradle")
      try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
      try Data("key".utf8).write(to: state.appending(path: "identity.pem"))
      try "name: Nursery\n".write(to: house.appending(path: "etc/cradle/child.yaml"), atomically: true, encoding: .utf8)
      // Disabled by the administrator, it stays so.
      try FileManager.default.removeItem(atPath: enabled)
      try build("1.1", ["cradle-child"])
      try dpkg(["--install", package("cradle-child", "1.1")])
      #expect(try text("house/var/lib/cradle/identity.pem") == "key")
      #expect(try text("house/etc/cradle/child.yaml") == "name: Nursery\n")
      #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: enabled)) == nil)

      try dpkg(["--remove", "cradle-child"])
      #expect(!exists("usr/bin/cradle-child"))
      #expect(exists("var/lib/cradle/identity.pem") && exists("etc/cradle/child.yaml"))
      try dpkg(["--purge", "cradle-child", "cradle-parent"])
      #expect(!exists("var/lib/cradle") && !exists("etc/cradle"))
    }
  }
}
