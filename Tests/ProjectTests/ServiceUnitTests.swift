import Foundation
import Testing

/// What systemd's own tools say of the files in systemd/.
@Suite struct ServiceUnitTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "systemd")

  private func run(_ arguments: [String]) throws -> (output: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    // systemd-analyze --user wants one, and a machine that nobody has logged in to has none.
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_RUNTIME_DIR": "/tmp"]) { own, _ in own }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (text, process.terminationStatus)
  }

  /// `name=value` lines of a unit, in their order.
  private func settings(_ file: String) throws -> [(name: String, value: String)] {
    try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8).split(separator: "\n").compactMap {
      let parts = $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !$0.hasPrefix("#") else { return nil }
      return (String(parts[0]), String(parts[1]))
    }
  }

  private func values(_ name: String, of file: String) throws -> [String] {
    try settings(file).filter { $0.name == name }.map(\.value)
  }

  private static let daemons = ["cradle-child.service", "cradle-rendezvous.service"]

  @Test(arguments: daemons)
  func exposureIsTwoOrBetter(unit: String) throws {
    let file = Self.folder.appending(path: unit).path
    let (output, _) = try run(["systemd-analyze", "security", "--offline=true", "--no-pager", file])
    let match = try #require(output.firstMatch(of: /exposure level for cradle-[a-z]+.service: ([0-9.]+)/), "\(output)")
    let exposure = try #require(Double(match.1))
    print(output.split(separator: "\n").filter { !$0.contains("✓") }.joined(separator: "\n"))
    #expect(exposure <= 2.0)
  }

  /// What is said of the devices is said of these alone.
  @Test func devicesAreThoseOfAChildsRoom() throws {
    #expect(
      try values("DeviceAllow", of: "cradle-child.service")
        == ["char-video4linux rw", "char-media rw", "char-dma_heap rw", "char-alsa rw", "char-gpiochip rw"])
    #expect(try values("DeviceAllow", of: "cradle-rendezvous.service").isEmpty)
    #expect(try values("PrivateDevices", of: "cradle-rendezvous.service") == ["yes"])
  }

  /// Port 443 is below 1024.
  @Test func theRoomServerMayUseItsPortAndNothingElse() throws {
    let unit = "cradle-rendezvous.service"
    for name in ["CapabilityBoundingSet", "AmbientCapabilities"] {
      #expect(try values(name, of: unit) == ["CAP_NET_BIND_SERVICE"], "\(name)")
    }
    #expect(try values("PrivateUsers", of: unit).isEmpty)
    #expect(try values("CapabilityBoundingSet", of: "cradle-child.service") == [""])
  }

  /// Unknown keys and wrong values are only warnings to systemd, which leaves them out.
  @Test(arguments: daemons + ["user/cradle-parent@.service"])
  func systemdUnderstandsEveryLine(file: String) throws {
    let copy = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: copy) }
    // The program need not be installed for this.
    let text = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
      .replacing(/\/usr\/bin\/cradle-[a-z]+/, with: "/bin/true")
    let unit = copy.appending(path: URL(filePath: file).lastPathComponent)
    try text.write(to: unit, atomically: true, encoding: .utf8)
    let scope = file.hasPrefix("user/") ? ["--user"] : []
    let (output, status) = try run(["systemd-analyze", "verify", "--man=no"] + scope + [unit.path])
    #expect(output.isEmpty && status == 0, "\(output)")
  }

  /// Avahi, sound and network are waited for by the program; a unit that requires them would not start without.
  @Test func nothingIsRequired() throws {
    for file in Self.daemons + ["user/cradle-parent@.service"] {
      for name in ["Requires", "Requisite", "BindsTo", "PartOf", "SupplementaryGroups"] {
        #expect(try values(name, of: file).isEmpty, "\(file): \(name)")
      }
    }
  }

  @Test(arguments: daemons)
  func aCrashComesBackAndAStopStays(unit: String) throws {
    #expect(try values("Type", of: unit) == ["notify"])
    #expect(try values("Restart", of: unit) == ["on-failure"])
    // The room server pings nobody.
    #expect(try values("WatchdogSec", of: unit).count == (unit == "cradle-child.service" ? 1 : 0))
    // Neither stays down because it has crashed too often: parents would hear nothing for a night.
    #expect(try values("StartLimitIntervalSec", of: unit) == ["0"])
    #expect(try values("StartLimitBurst", of: unit).isEmpty)
    #expect(try values("RestartSec", of: unit) == ["1"])
    // Exit status 2 is the program's word for a wrong configuration.
    #expect(try values("RestartPreventExitStatus", of: unit) == ["2"])
  }

  /// What a viewer can make the program hold is bounded in the program. Should one bound be missing, this one keeps the
  /// board alive.
  @Test(arguments: [("cradle-child.service", "384M"), ("cradle-rendezvous.service", "512M")])
  func memoryIsLimitedAndTheUnitSaysWhy(unit: String, limit: String) throws {
    #expect(try values("MemoryMax", of: unit) == [limit])
    let text = try String(contentsOf: Self.folder.appending(path: unit), encoding: .utf8)
    #expect(text.contains(/\n# [^\n]+\nMemoryMax=/))
  }

  /// The user of the unit, in the groups that own cameras, sound cards and lines; also where a group is missing.
  @Test(arguments: [("cradle-child", ["video", "audio", "gpio"]), ("cradle-rendezvous", [])])
  func sysusersMakesTheUserWithItsGroups(name: String, members: [String]) throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: root.appending(path: "etc"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: root) }
    let file = Self.folder.appending(path: "\(name).sysusers").path
    let (output, status) = try run(["systemd-sysusers", "--root=\(root.path)", file])
    #expect(status == 0, "\(output)")
    let users = try String(contentsOf: root.appending(path: "etc/passwd"), encoding: .utf8)
    let groups = try String(contentsOf: root.appending(path: "etc/group"), encoding: .utf8)
    let user = try #require(values("User", of: "\(name).service").first)
    let home = try #require(values("StateDirectory", of: "\(name).service").first)
    #expect(users.contains("\n\(user):") || users.hasPrefix("\(user):"))
    #expect(try values("Group", of: "\(name).service") == [user])
    #expect(groups.split(separator: "\n").contains { $0.hasPrefix("\(user):") }, "\(groups)")
    #expect(users.contains("/var/lib/\(home):/usr/sbin/nologin"), "\(users)")
    for group in members {
      #expect(
        groups.split(separator: "\n").contains { $0.hasPrefix("\(group):") && $0.hasSuffix(":\(user)") }, "\(groups)")
    }
  }
}
