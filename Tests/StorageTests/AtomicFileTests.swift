import Glibc
import Testing

@testable import Storage

@Suite struct AtomicFileTests {
  private let directory = TemporaryDirectory()
  private var file: AtomicFile { AtomicFile(path: "\(directory.path)/store.json") }
  private let old = [UInt8](repeating: 1, count: 9000)
  private let new = [UInt8](repeating: 2, count: 10000)

  private static let steps: [AtomicFile.Step] = [
    .createTemporary, .write(offset: 0), .write(offset: 4096), .write(offset: 8192), .syncFile, .rename,
    .syncDirectory,
  ]

  @Test func missingFileIsNil() throws {
    #expect(try file.read() == nil)
    #expect(file.currentMode() == nil)
  }

  @Test func contentAndModeAreWritten() throws {
    try file.write(old)
    try file.write(new)
    #expect(try file.read() == new)
    #expect(file.currentMode() == 0o600)
    #expect(directory.names() == ["store.json"])
    try file.write([])
    #expect(try file.read() == [])
  }

  @Test(arguments: steps)
  func powerCutAtAnyStepLeavesOldOrNewContent(step: AtomicFile.Step) throws {
    try file.write(old)
    #expect(throws: FileError.self) { try file.write(new) { $0 == step ? .powerCut : nil } }
    let renamed = step == .syncDirectory
    #expect(try file.read() == (renamed ? new : old))
    // The next start writes again, whatever was left lying about.
    try file.write(new)
    #expect(try file.read() == new)
    #expect(directory.names() == ["store.json"])
  }

  @Test(arguments: steps)
  func failureAtAnyStepKeepsTheContentAndTidiesUp(step: AtomicFile.Step) throws {
    try file.write(old)
    #expect {
      try file.write(new) { $0 == step ? .fails(ENOSPC) : nil }
    } throws: { error in
      (error as? FileError)?.code == ENOSPC && "\(error)".contains(": No space left on device. Make room")
    }
    #expect(try file.read() == (step == .syncDirectory ? new : old))
    #expect(directory.names() == ["store.json"])
  }

  @Test func errorNamesPathAndReason() {
    let missing = AtomicFile(path: "\(directory.path)/none/store.json")
    #expect {
      try missing.write([1])
    } throws: { error in
      "\(error)" == "cannot open \(directory.path)/none/.store.json.tmp: No such file or directory"
    }
  }

  @Test func linkInPlaceOfTheTemporaryFileIsNotFollowed() throws {
    let target = "\(directory.path)/elsewhere"
    try AtomicFile(path: target).write(old)
    try #require(symlink(target, file.temporaryPath) == 0)
    try file.write(new)
    #expect(try AtomicFile(path: target).read() == old)
    #expect(try file.read() == new)
  }

  @Test func tooLargeFileIsRefused() throws {
    try file.write(old)
    #expect(throws: FileError(operation: "read", path: file.path, code: EFBIG)) { try file.read(maximum: 8999) }
    #expect(try file.read(maximum: 9000) == old)
  }
}

@Suite struct StateDirectoryTests {
  private let directory = TemporaryDirectory()

  @Test func isMadeWithParentsAndClosedToOthers() throws {
    let path = "\(directory.path)/a/b/cradle"
    let state = try StateDirectory(path: path)
    #expect(state.identity.path == "\(path)/identity.pem")
    #expect(state.modeWarnings().isEmpty)
    #expect(try state.subdirectory("screenshots") == "\(path)/screenshots")
    try state.identity.write([1])
    chmod(path, 0o755)
    #expect(state.modeWarnings() == ["\(path) has mode 0755 and should have 0700"])
  }

  private static func refusal(_ path: String) -> StateDirectoryError? {
    do throws(StateDirectoryError) {
      _ = try StateDirectory(path: path)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: ["identity.pem", "pairs.json", "tokens.json"])
  func aKeyFileThatOthersMayGetAtIsRefused(name: String) throws {
    let path = "\(directory.path)/cradle"
    let file = "\(path)/\(name)"
    _ = try StateDirectory(path: path)
    try AtomicFile(path: file).write([1])
    #expect(Self.refusal(path) == nil)
    for mode: UInt32 in [0o640, 0o604, 0o620, 0o644] {
      chmod(file, mode)
      let error = Self.refusal(path)
      #expect(error == .notPrivate(.mode(path: file, found: mode, wanted: 0o600)))
      #expect(error.map { "\($0)".contains("chmod 600 \(file)") } == true)
    }
    chmod(file, 0o400)
    #expect(Self.refusal(path) == nil)
    // Nothing of it was changed.
    #expect(AtomicFile(path: file).currentMode() == 0o400)
    #expect(rename(file, "\(path)/elsewhere") == 0)
    symlink("elsewhere", file)
    #expect(Self.refusal(path) == .notPrivate(.notAFile(path: file)))
  }

  @Test(.enabled(if: geteuid() == 0)) func aKeyFileOfAnotherUserIsRefused() throws {
    let path = "\(directory.path)/cradle"
    let file = "\(path)/identity.pem"
    _ = try StateDirectory(path: path)
    try AtomicFile(path: file).write([1])
    chown(file, 12345, 12345)
    let error = Self.refusal(path)
    #expect(error == .notPrivate(.owner(path: file, found: 12345, wanted: 0)))
    #expect(error.map { "\($0)".contains("chown 0 \(file)") } == true)
    // What root finds in the directory of the daemon's user is the daemon's.
    chown(path, 12345, 12345)
    #expect(Self.refusal(path) == nil)
  }

  @Test func aCertificatesKeyMayBeAGroupsButNotEverybodys() throws {
    let file = "\(directory.path)/key.pem"
    try AtomicFile(path: file).write([1])
    symlink("key.pem", "\(directory.path)/link.pem")
    for mode: UInt32 in [0o600, 0o640, 0o400] {
      chmod(file, mode)
      try PrivateFileError.checkSharedKey("\(directory.path)/link.pem")
    }
    for mode: UInt32 in [0o644, 0o660] {
      chmod(file, mode)
      #expect(throws: PrivateFileError.mode(path: file, found: mode, wanted: 0o640)) {
        try PrivateFileError.checkSharedKey(file)
      }
    }
  }

  @Test func aDirectoryThatOthersMayWriteToIsRefused() throws {
    let path = "\(directory.path)/cradle"
    _ = try StateDirectory(path: path)
    chmod(path, 0o770)
    #expect(Self.refusal(path) == .notPrivate(.mode(path: path, found: 0o770, wanted: 0o700)))
  }

  @Test func secondDaemonIsRefusedUntilTheFirstIsGone() throws {
    var first: StateDirectory? = try StateDirectory(path: directory.path)
    #expect(first != nil)
    #expect(throws: StateDirectoryError.inUse(path: directory.path, process: Int(getpid()))) {
      _ = try StateDirectory(path: directory.path)
    }
    first = nil
    _ = try StateDirectory(path: directory.path)
  }

  /// `sudo cradle-child run` on a machine where the service has a user of its own.
  @Test(.enabled(if: geteuid() == 0, "giving files away needs root"))
  func whatRootWritesBelongsToTheOwnerOfTheDirectory() throws {
    #expect(chown(directory.path, 65534, 65534) == 0)
    let state = try StateDirectory(path: directory.path)
    try state.pairs.write([1])
    for name in ["lock", "pairs.json"] {
      var status = stat()
      #expect(stat("\(directory.path)/\(name)", &status) == 0)
      #expect(status.st_uid == 65534 && status.st_gid == 65534 && status.st_mode & 0o777 == 0o600, "\(name)")
    }
  }

  @Test func fileInPlaceOfTheDirectoryIsRefused() throws {
    let path = "\(directory.path)/file"
    try AtomicFile(path: path).write([])
    #expect(throws: StateDirectoryError.file(FileError(operation: "make directory", path: path, code: ENOTDIR))) {
      _ = try StateDirectory(path: path)
    }
  }
}
