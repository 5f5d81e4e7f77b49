import Foundation
import Testing

/// Who owns a child after pairings that went wrong half-way, with real programs.
extension RealPeers {
  @Suite struct OwnershipFlowTests {
    /// Runs `script` with a full file system of 16 kB at `$1`, in a mount namespace of its own.
    private func onAFullDisk(_ script: String, at folder: URL, _ arguments: [String]) throws -> (
      output: String, error: String, status: Int32
    ) {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      return try ChildProcess.run(
        "unshare",
        [
          "--mount", "--propagation", "private", "sh", "-c",
          "mount -t tmpfs -o size=16k,mode=700 none \"$1\" || exit 99\n" + script, "sh", folder.path,
        ] + arguments)
    }

    /// The parent cannot keep the pair: neither does the child, and the next try owns it.
    @Test(.enabled(if: geteuid() == 0, "mounts a file system"))
    func aParentWithAFullDiskIsNotPairedAndTheNextTryOwnsTheChild()
      throws
    {
      let house = try Household()
      let opened = try house.open()
      // Room for the identity and the lock, not for the pair.
      let full = try onAFullDisk(
        """
        "$2" children --state-directory "$1" > /dev/null; echo x > "$1/parent.lock"
        "$2" pair 127.0.0.1:1 --code 0000-0000 --state-directory "$1" > /dev/null 2>&1
        dd if=/dev/zero of="$1/fill" bs=1k > /dev/null 2>&1
        "$2" pair "$3" --code "$4" --state-directory "$1"
        """, at: house.child.folder.appending(path: "small"), [ParentProcess.program.path, house.address, opened.code])
      #expect(full.status == 1, Comment(rawValue: "\(full)"))
      #expect(full.error.contains("the camera has removed it again"), Comment(rawValue: full.error))
      #expect(full.error.contains("No space left on device"), Comment(rawValue: full.error))
      #expect(try house.pairs().isEmpty)
      try house.pair()
      #expect(try house.pairs().map { $0.permissions.contains("admin") } == [true])
      #expect(try house.child.command(["pairs"]).output.contains("Nobody owns") == false)
    }

    /// The child's own disk is full: the parent hears why.
    @Test(.enabled(if: geteuid() == 0, "mounts a file system")) func aChildWithAFullDiskSaysSo() throws {
      let house = try Household()
      let opened = try house.open()
      // The child sees its state directory through a mount namespace of its own, which nsenter joins.
      let state = house.child.folder.appending(path: "state").path
      let filled = try ChildProcess.run(
        "sh",
        [
          "-c",
          """
          rm -rf "$1.copy" && cp -a "$1" "$1.copy" && mount -t tmpfs -o size=300k,mode=700 none "$1" && cp -a "$1.copy/." "$1/" \
          && { dd if=/dev/zero of="$1/fill" bs=1k > /dev/null 2>&1; true; }
          """, "sh", state,
        ])
      defer { _ = try? ChildProcess.run("umount", ["--lazy", state]) }
      try #require(filled.status == 0, Comment(rawValue: filled.error))
      let paired = try house.parent("pair", house.address, "--code", opened.code)
      #expect(paired.status == 1, Comment(rawValue: "\(paired)"))
      #expect(
        paired.error.contains("could not store the pairing: No space left on device"), Comment(rawValue: paired.error))
      #expect(!paired.error.contains("not a child"), Comment(rawValue: paired.error))
      #expect(try house.pairs().isEmpty)
      try FileManager.default.removeItem(atPath: state + "/fill")
      try house.pair()
      #expect(try house.pairs().map { $0.permissions.contains("admin") } == [true])
    }

    /// With the same key it keeps what it had, also by a guest's link.
    @Test func theOnlyOwnerPairsAgainAndStaysOne() throws {
      struct Invited: Decodable {
        struct Invite: Decodable { var link: String }
        var invite: Invite
      }
      let house = try Household()
      try house.pair()
      let output = try house.parent("invite", "--allow", "view", "--for", "1h", "--json").output
      let link = try JSONDecoder().decode(Invited.self, from: Data(output.utf8)).invite.link
      try house.pair()
      #expect(try house.pairs().map { $0.permissions.contains("admin") } == [true])
      let guest = try house.parent("pair", "--link", link.replacing(/\/\/[^\/]*/, with: "//\(house.address)"))
      #expect(guest.status == 0 && guest.output.contains("admin"), Comment(rawValue: "\(guest)"))
      #expect(try house.pairs().map { $0.permissions.contains("admin") } == [true])
      // And it can still do what an owner can.
      #expect(try house.parent("invite", "--allow", "view", "--for", "1h").status == 0)
      // Others get what they should.
      let second = house.child.folder.appending(path: "second")
      let opened = try house.open()
      #expect(try house.parent("pair", house.address, "--code", opened.code, state: second).status == 0)
      #expect(try house.pairs().map { $0.permissions.contains("admin") } == [true, false])
      // Without the owner nobody owns it, and what to do is named wherever somebody looks.
      let owner = try #require(try house.pairs().first?.id)
      let named = "cradle-child pair --admin"
      #expect(try house.child.command(["unpair", owner]).output.contains(named))
      #expect(try house.child.command(["pairs"]).output.contains(named))
      #expect(try house.child.command(["status"]).output.contains(named))
      #expect(house.child.logText.contains(named))
    }
  }
}
