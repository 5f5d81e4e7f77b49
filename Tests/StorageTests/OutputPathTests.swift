import Glibc
import Testing

@testable import Storage

/// How a path that a person gave for output is written, and what is never replaced.
@Suite struct OutputPathTests {
  private let directory = TemporaryDirectory()
  private let content = Array("picture".utf8)

  private func failure(_ path: String) -> FileError? {
    do throws(FileError) {
      try OutputPath(path).write(content)
      return nil
    } catch {
      return error
    }
  }

  private func kind(_ path: String) throws -> FileKind {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return FileKind(status)
  }

  @Test func aFileIsReplacedAndPrivate() throws {
    let path = "\(directory.path)/a.jpg"
    try OutputPath(path).write(Array("older and longer".utf8))
    try OutputPath(path).write(content)
    #expect(try AtomicFile(path: path).read() == content)
    var status = stat()
    try #require(stat(path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(directory.names() == ["a.jpg"])
  }

  @Test func aFIFOIsWrittenThroughAndWaitsForItsReader() async throws {
    let path = "\(directory.path)/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    // More than a pipe holds.
    let large = [UInt8](repeating: 7, count: 300_000)
    let reading = Task.detached {
      usleep(200_000)
      let descriptor = open(path, O_RDONLY)
      defer { close(descriptor) }
      var total = 0
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return total }
        total += count
      }
    }
    try OutputPath(path).write(large)
    #expect(await reading.value == large.count)
    #expect(try kind(path) == .fifo)
    #expect(directory.names() == ["pipe"])
  }

  @Test func aReaderThatHasGoneIsAnError() throws {
    signal(SIGPIPE, SIG_IGN)
    let path = "\(directory.path)/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    let stream = OutputStream(OutputPath(path))
    try stream.write([1])
    close(reader)
    #expect(throws: FileError.self) { try stream.write([2]) }
    #expect(try kind(path) == .fifo)
  }

  /// Who neither reads nor goes holds nothing up once it is to end.
  @Test func aReaderThatDoesNotReadIsGivenUp() throws {
    let path = "\(directory.path)/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    let nobody = OutputStream(OutputPath(path))
    nobody.giveUp(afterMilliseconds: 1)
    #expect(throws: FileError.self) { try nobody.write([1]) }
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let full = OutputStream(OutputPath(path))
    full.giveUp(afterMilliseconds: 1)
    #expect(throws: FileError.self) { try full.write([UInt8](repeating: 0, count: 1 << 20)) }
  }

  @Test func devicesStayWhatTheyAre() throws {
    #expect(failure("/dev/null") == nil)
    #expect(failure("/dev/full")?.code == ENOSPC)
    #expect(try kind("/dev/null") == .characterDevice && kind("/dev/full") == .characterDevice)
    // By a link, too.
    let link = "\(directory.path)/link"
    try #require(symlink("/dev/full", link) == 0)
    #expect(failure(link)?.code == ENOSPC)
    var status = stat()
    #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK && directory.names() == ["link"])
  }

  @Test func anOpenFileOfTheProcessIsWrittenThrough() throws {
    let path = "\(directory.path)/redirected"
    let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    defer { close(descriptor) }
    try OutputPath("/dev/fd/\(descriptor)").write(content)
    #expect(try AtomicFile(path: path).read() == content)
    // Nothing has taken its place.
    var (before, after) = (stat(), stat())
    try #require(fstat(descriptor, &before) == 0 && stat(path, &after) == 0)
    #expect(before.st_ino == after.st_ino)
  }

  @Test func whatCannotBeWrittenSaysSoByItsOwnName() throws {
    #expect(failure(directory.path)?.code == EISDIR)
    #expect(failure("\(directory.path)/none/")?.code == EISDIR)
    #expect(failure("") != nil)
    let missing = "\(directory.path)/none/x.jpg"
    #expect(failure(missing)?.description == "cannot write \(missing): No such file or directory")
    // Before the night, not after it.
    #expect(throws: FileError.self) { try OutputPath(missing).check() }
    try OutputPath("\(directory.path)/x.jpg").check()
  }

  @Test(arguments: ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
  func standardOutputHasSeveralNames(path: String) {
    #expect(OutputPath(path).isStandardOutput)
    #expect(!OutputPath("./-").isStandardOutput)
  }

  @Test func aFileInPiecesIsWholeOrNotThere() throws {
    let path = "\(directory.path)/part.webm"
    let file = try OutputFile(OutputPath(path))
    try file.append([1, 2])
    #expect(directory.names() == ["part.webm.part"])
    try file.append([3])
    try file.finish()
    #expect(try AtomicFile(path: path).read() == [1, 2, 3])
    #expect(directory.names() == ["part.webm"])
    let device = try OutputFile(OutputPath("/dev/full"))
    #expect(throws: FileError.self) { try device.append([1]) }
    #expect(try kind("/dev/full") == .characterDevice)
  }
}
