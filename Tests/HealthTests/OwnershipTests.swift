import Foundation
import Glibc
import TestSupport
import Testing

@testable import Health
@testable import Linux

/// Key files and devices: who owns them, and who may use them.
@Suite struct OwnershipTests {
  private static let passwd = """
    root:x:0:0:root:/root:/bin/bash
    pi:x:1000:1000:,,,:/home/pi:/bin/bash
    cradle:x:990:989:Cradle:/nonexistent:/usr/sbin/nologin

    """
  private static let group = """
    root:x:0:
    audio:x:29:pi,cradle
    video:x:44:pi
    cradle:x:989:

    """
  private static let names = ["identity.pem", "pairs.json", "tokens.json"]

  private static func state(directory: Int = 0o700, identity: Int = 0o600) throws -> FakeRoot {
    let root = try FakeRoot(["/etc/passwd": passwd, "/etc/group": group])
    try root.write("/state/identity.pem", "key", mode: identity)
    try root.write("/state/pairs.json", "{}", mode: 0o600)
    try root.setMode("/state", directory)
    return root
  }

  private static func check(_ root: FakeRoot, user: UInt32? = nil) -> [Finding] {
    KeyFileCheck.run(directory: "/state", names: names, user: user, files: root.files)
  }

  @Test func aStateOfItsOwnersAloneIsFine() throws {
    let findings = Self.check(try Self.state())
    #expect(findings.map(\.state) == [.ok])
    #expect(findings[0].detail.contains("the keys in it belong to"))
  }

  @Test func aKeyThatOthersMayReadIsAProblem() throws {
    for mode in [0o644, 0o640, 0o620, 0o604] {
      let findings = Self.check(try Self.state(identity: mode))
      #expect(findings.map(\.state) == [.problem])
      #expect(findings[0].what == "identity.pem")
      #expect(findings[0].detail.contains(String(mode, radix: 8)))
      #expect(findings[0].remedy == "sudo chmod 600 '/state/identity.pem'")
    }
  }

  @Test func aDirectoryThatOthersMayWriteIsAProblemAndOneThatTheyMayReadAWarning() throws {
    #expect(Self.check(try Self.state(directory: 0o755)).map(\.state) == [.warning])
    #expect(Self.check(try Self.state(directory: 0o777)).map(\.state) == [.problem])
    #expect(Self.check(try Self.state(directory: 0o777))[0].remedy == "sudo chmod 700 '/state'")
  }

  /// The daemon would run as pi; the files belong to whoever runs the tests.
  @Test func aDirectoryOrAFileInItThatTheDaemonCannotWriteIsAProblem() throws {
    let root = try Self.state()
    try root.write("/state/events/events.db", "", mode: 0o600)
    try root.write("/state/notify/phone.json", "{}", mode: 0o666)
    try root.setMode("/state/notify", 0o777)
    func found(_ user: UInt32) -> [String] {
      DirectoryCheck.run(
        ["/state/events", "/state/notify", "/state/push"], account: Account(id: user, groups: []), files: root.files
      ).map(\.detail)
    }
    #expect(found(geteuid()).isEmpty)
    let other: UInt32 = geteuid() == 1000 ? 990 : 1000
    #expect(found(other).count == 1 && found(other)[0].contains("cannot write /state/events, which belongs to"))
    // The directory alone was given away.
    try root.setMode("/state/events", 0o777)
    #expect(found(other).count == 1 && found(other)[0].contains("cannot write /state/events/events.db, which"))
    try root.setMode("/state/events/events.db", 0o666)
    #expect(found(other).isEmpty)
  }

  /// chown would help nothing.
  @Test(.enabled(if: Mounts.arePossible, "mounts a file system")) func aReadOnlyFileSystemIsNoQuestionOfOwners() throws
  {
    let root = try Self.state()
    try root.write("/state/events/events.db", "")
    let path = root.folder.appending(path: "/state/events").path
    try #require(mount("tmpfs", path, "tmpfs", UInt(MS_RDONLY), "size=64k") == 0)
    defer { umount2(path, Int32(MNT_DETACH)) }
    let findings = DirectoryCheck.run(["/state/events"], account: Account(id: geteuid(), groups: []), files: root.files)
    #expect(findings.map(\.state) == [.problem])
    #expect(findings[0].detail.contains("read-only") && findings[0].remedy?.contains("chown") == false)
    // After an error mount(8) refuses: then there is a next step.
    for step in ["systemctl stop cradle-child", "umount", "reboot", "fsck -f", "replace it"] {
      #expect(findings[0].remedy?.contains(step) == true, "\(step)")
    }
  }

  /// ext4 of newer kernels after an error: whoever asks whether it may write is told so.
  @Test(arguments: [("rw,errors=remount-ro", 0), ("rw,relatime,abort,emergency_ro", 1)])
  func aFileSystemThatHasStoppedWritingIsReadOnly(options: String, count: Int) throws {
    let root = try Self.state()
    try root.write("/state/events/events.db", "")
    var status = stat()
    try #require(stat(root.folder.appending(path: "/state/events").path, &status) == 0)
    // For the devices that there are, makedev(3) is no more than this.
    let device = "\(status.st_dev >> 8 & 0xfff):\(status.st_dev & 0xff | status.st_dev >> 12 & 0xfff00)"
    try root.write(
      "/proc/self/mountinfo",
      """
      22 1 0:5 / /sys rw,nosuid - sysfs sysfs rw
      36 22 \(device) / / rw,noatime master:1 - ext4 /dev/mmcblk0p2 \(options)

      """)
    let findings = DirectoryCheck.run(["/state/events"], account: Account(id: geteuid(), groups: []), files: root.files)
    #expect(findings.count == count && findings.allSatisfy { $0.detail.contains("read-only; nothing can be kept") })
  }

  @Test func aForeignOwnerIsAProblem() throws {
    // The files belong to whoever runs the tests; the daemon would be another.
    let other: UInt32 = getuid() == 990 ? 1000 : 990
    let findings = Self.check(try Self.state(), user: other)
    #expect(findings.count == 3)
    #expect(findings.allSatisfy { $0.state == .problem })
    #expect(findings[1].remedy == "sudo chown \(other == 990 ? "cradle" : "pi") '/state/identity.pem'")
  }

  @Test func aDirectoryThatIsNotThereIsMadeLater() throws {
    let findings = KeyFileCheck.run(directory: "/nothing", names: Self.names, user: nil, files: try FakeRoot().files)
    #expect(findings.map(\.state) == [.ok])
  }

  @Test(arguments: ["/file/x", "/file/x/y", "/file"]) func aFileInThePlaceOfADirectoryIsAProblem(path: String) throws {
    let root = try FakeRoot()
    try root.write("/file", "")
    let findings =
      KeyFileCheck.run(directory: path, names: Self.names, user: nil, files: root.files)
      + DirectoryCheck.run([path, path + "/events"], account: .own, files: root.files)
    #expect(findings.map(\.state) == [.problem, .problem])
    #expect(
      findings.allSatisfy {
        $0.detail.hasPrefix(path)
          && $0.detail.hasSuffix(path == "/file" ? "/file is no directory" : ": /file is no directory")
      }, "\(findings)")
  }

  @Test(.enabled(if: getuid() == 0, "another user's files need root"))
  func oneForeignFileIsFoundAmongOwnOnes() throws {
    let root = try Self.state()
    #expect(chown(root.folder.appending(path: "/state/pairs.json").path, 1000, 1000) == 0)
    let findings = Self.check(root)
    #expect(findings.map(\.what) == ["pairs.json"])
    #expect(findings[0].detail == "/state/pairs.json belongs to pi, not to root")
  }

  // MARK: Accounts

  @Test func anAccountIsReadFromTheProcessThatRuns() throws {
    let root = try FakeRoot([
      "/etc/passwd": Self.passwd,
      "/proc/4242/status":
        "Name:\tcradle-child\nUid:\t990\t990\t990\t990\nGid:\t989\t989\t989\t989\nGroups:\t29 44 997 \n",
    ])
    let account = try #require(Account(process: 4242, files: root.files))
    #expect(account == Account(id: 990, groups: [989, 989, 989, 989, 29, 44, 997]))
    #expect(account.name(root.files) == "cradle")
    #expect(Account(process: 4243, files: root.files) == nil)
  }

  @Test func anAccountIsReadFromPasswdAndGroup() throws {
    let files = try FakeRoot(["/etc/passwd": Self.passwd, "/etc/group": Self.group])
    #expect(Account(id: 990, files: files.files) == Account(id: 990, groups: [29, 989]))
    #expect(Account(id: 5, files: files.files) == nil)
    #expect(Account.userName(5, files.files) == "user 5")
    #expect(Account.groupName(44, files.files) == "video")
  }

  @Test func ownerGroupAndOthersDecideInThisOrder() {
    let account = Account(id: 990, groups: [44])
    let may = { (owner: UInt32, group: UInt32, mode: UInt32) in
      account.mayUse(.init(owner: owner, group: group, mode: mode))
    }
    #expect(may(0, 44, 0o660))
    #expect(!may(0, 29, 0o660))
    #expect(may(0, 29, 0o666))
    #expect(!may(0, 44, 0o640))
    // acl(5): the first entry that fits decides, even if a later one would allow more.
    #expect(!may(990, 44, 0o060))
    #expect(!may(0, 44, 0o606))
    #expect(Account(id: 0, groups: []).mayUse(.init(owner: 5, group: 5, mode: 0)))
  }

  @Test func theOwnAccountIsThatOfTheSystem() {
    #expect(Account.own.id == geteuid())
    #expect(Account.own.groups.contains(getegid()))
  }
}
