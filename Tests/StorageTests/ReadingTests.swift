import Glibc
import Testing

@testable import Storage

/// What is no file is not read as one, whoever put it there.
@Suite struct ReadingTests {
  private let directory = TemporaryDirectory()

  private func failure(_ path: String) -> FileError? {
    do throws(FileError) {
      _ = try AtomicFile(path: path).read()
      return nil
    } catch {
      return error
    }
  }

  @Test(.timeLimit(.minutes(1))) func aFIFOADeviceAndADirectoryAreRefusedAtOnce() throws {
    let fifo = "\(directory.path)/fifo"
    try #require(mkfifo(fifo, 0o600) == 0)
    for (path, words) in [(fifo, "a FIFO"), ("/dev/zero", "a device"), (directory.path, "a directory")] {
      let error = try #require(failure(path))
      #expect(error.description == "cannot read \(path): it is \(words), and a regular file is needed")
    }
    // The same behind every file that is configured.
    for load in [
      { try _ = ChildConfiguration.load(path: fifo) }, { try _ = RendezvousConfiguration.load(path: fifo) },
      { try _ = ConfiguredValue.file(path: fifo, prefix: "").read() },
      { try _ = KnownServers(file: AtomicFile(path: fifo)) },
    ] as [() throws -> Void] {
      #expect { try load() } throws: { "\($0)".contains("it is a FIFO") }
    }
  }

  @Test func aByteOrderMarkIsNoPartOfTheText() throws {
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let path = "\(directory.path)/text"
    func write(_ text: String) throws { try AtomicFile(path: path).write(mark + Array(text.utf8)) }
    try write("name: Nursery\r\nlisten: \"[::]:1\"\r\n")
    #expect(try ChildConfiguration.load(path: path)?.name == "Nursery")
    try write("# first a comment\nname: Nursery\n")
    #expect(try ChildConfiguration.load(path: path)?.name == "Nursery")
    try write("names: [meet.example.org]\n")
    #expect(try RendezvousConfiguration.load(path: path)?.names == ["meet.example.org"])
    try write("{\"version\":1,\"servers\":[]}")
    #expect(try KnownServers(file: AtomicFile(path: path)).servers.isEmpty)
    try write("secret\n")
    #expect(try ConfiguredValue.file(path: path, prefix: "").read() == "secret")
    // Given as text, and alone.
    #expect(try ChildConfiguration.parse(mark + Array("name: A".utf8), file: "x").name == "A")
    #expect(try ChildConfiguration.parse(mark, file: "x").name == nil)
    // Lines are counted as an editor does.
    #expect {
      try ChildConfiguration.parse(mark + Array("nme: A".utf8), file: "x")
    } throws: { "\($0)".hasPrefix("x:1:1: nme: unknown key") }
  }

  @Test(arguments: [[0xff, 0xfe] as [UInt8], [0xfe, 0xff]]) func textOfAnotherEncodingIsNamed(mark: [UInt8]) {
    #expect {
      try ChildConfiguration.parse(mark + [0x61, 0], file: "x")
    } throws: { "\($0)" == "x: is UTF-16 text; save it as UTF-8" }
  }

  @Test func ofALongValueItsLengthIsSaid() {
    let name = String(repeating: "n", count: 64)
    #expect {
      try ChildConfiguration.parse(Array("name: \(name)".utf8), file: "x")
    } throws: { "\($0)".hasSuffix("but is “\(name.prefix(40))…” (64 bytes)") }
  }

  @Test func aNameMayHaveAJoinerOrANonJoiner() throws {
    let name = "اتاق نی\u{200c}نی"
    #expect(try ChildConfiguration.parse(Array("name: \"\(name)\"".utf8), file: "x").name == name)
    #expect(throws: ConfigurationErrors.self) {
      try ChildConfiguration.parse(Array("name: \"a\u{202e}b\"".utf8), file: "x")
    }
  }
}
