internal import CLinux
internal import DeviceNames
internal import Frames
internal import Glibc
internal import Linux
internal import Wire

/// A running program whose output is read through pipes. It gets no input, none of our descriptors, and a process group of
/// its own, so that what it starts ends with it.
struct ProgramPipe: ~Copyable {
  /// Standard output; does not block.
  let output: Int32
  /// Standard error; does not block. -1 once the program has closed it, so that nobody waits for it.
  private(set) var errors: Int32
  private let process: pid_t
  /// The end of what it wrote to standard error.
  private var lastWords: [UInt8] = []
  /// What came before is gone, and with it the beginning of the first line.
  private var hasLostWords = false
  private let mask: CredentialMask
  private var hasEnded = false

  /// Enough for a few lines of libcamera.
  private static let maximumWords = 4096
  /// A pipe holds 64 KiB unless asked for more; a picture of 1280x720 has 1.3 MiB.
  private static let wantedPipeBytes: Int32 = 1 << 20
  /// rpicam-vid stops its camera within this; then it is killed.
  private static let endPatience: Duration = .milliseconds(1500)

  /// Starts `words[0]` with the other words as arguments. A name without a slash is looked up in PATH.
  ///
  /// - Parameter mask: for what it says in `words`, `error` and `ending`.
  /// - Throws: the errno of pipe2(2) or posix_spawn(3): ENOENT if there is no such program.
  init(_ words: [String], mask: CredentialMask = CredentialMask()) throws(SpawnError) {
    self.mask = mask
    var outputs: [Int32] = [-1, -1]
    var errors: [Int32] = [-1, -1]
    guard pipe2(&outputs, O_CLOEXEC) == 0 else { throw SpawnError(number: errno) }
    guard pipe2(&errors, O_CLOEXEC) == 0 else {
      let number = errno
      outputs.forEach { close($0) }
      throw SpawnError(number: number)
    }
    defer {
      close(outputs[1])
      close(errors[1])
    }
    do throws(ProgramStart.Failure) {
      process = try ProgramStart.spawn(
        words, input: .nothing, output: .descriptor(outputs[1]), errors: .descriptor(errors[1]))
    } catch {
      close(outputs[0])
      close(errors[0])
      throw SpawnError(number: error.number)
    }
    for descriptor in [outputs[0], errors[0]] {
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
    _ = fcntl(outputs[0], CLINUX_F_SETPIPE_SZ, Self.wantedPipeBytes)
    output = outputs[0]
    self.errors = errors[0]
    RunningPrograms.insert(process)
  }

  struct SpawnError: Error {
    var number: Int32
  }

  /// Ends the program and closes the pipes.
  deinit {
    close(output)
    if errors >= 0 { close(errors) }
    if !hasEnded { Self.end(process) }
  }

  private static func end(_ process: pid_t) {
    defer { RunningPrograms.remove(process) }
    kill(-process, SIGTERM)
    let deadline = MonotonicClock.now + endPatience
    var status: Int32 = 0
    while waitpid(process, &status, WNOHANG) == 0 {
      guard MonotonicClock.now < deadline else {
        kill(-process, SIGKILL)
        waitpid(process, &status, 0)
        return
      }
      MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(10))
    }
    // What it started and left behind.
    kill(-process, SIGKILL)
  }

  /// Reads what there is on standard error. Only the end of it is kept, however much it is.
  mutating func readErrors() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    // A program that never stops writing must not keep us from its pictures.
    for _ in 0..<16 where errors >= 0 {
      let count = read(errors, &buffer, buffer.count)
      if count == 0 {
        close(errors)
        errors = -1
      }
      guard count > 0 else { return }
      lastWords += buffer[..<count]
      if lastWords.count > Self.maximumWords {
        lastWords.removeFirst(lastWords.count - Self.maximumWords)
        hasLostWords = true
      }
    }
  }

  /// Waits for the program, which has closed its output, and says in a few words why it ended: in its own words if it
  /// named an error, else by its exit status and what it said last.
  mutating func ending() -> String {
    var status: Int32 = 0
    let deadline = MonotonicClock.now + Self.endPatience
    while waitpid(process, &status, WNOHANG) == 0 {
      guard MonotonicClock.now < deadline else {
        Self.end(process)
        hasEnded = true
        readErrors()
        return explained("it closed its output")
      }
      MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(5))
    }
    hasEnded = true
    kill(-process, SIGKILL)
    RunningPrograms.remove(process)
    readErrors()
    let signal = status & 0x7f
    return explained(
      signal == 0 ? "it ended with exit status \(status >> 8 & 0xff)" : "it was ended by signal \(signal)")
  }

  private func explained(_ end: String) -> String {
    error ?? end + (lines.last.map { "; it said: \($0)" } ?? "")
  }

  /// The last line on standard error in which it speaks of an error.
  var error: String? { lines.last { $0.lowercased().contains("error") } }

  /// What it said last on standard error; nil if nothing.
  var words: String? { error ?? lines.last }

  /// Printable, at most 200 characters each, without libcamera's messages of level INFO. Without the first one where its
  /// beginning is missing: half a credential is not known as one. It is masked before, as one may go on in the next line.
  private var lines: [String] {
    let said = mask.masked(saidLately)
    return (hasLostWords ? said.drop { !$0.isNewline } : said[...]).split(whereSeparator: \.isNewline)
      .map { line in String(line.drop(while: \.isWhitespace)).printable() }
      .filter { line in line.contains { $0 != " " } && !line.contains(" INFO ") }
  }

  /// Everything that it said lately, as it said it: for programs, not for people.
  var saidLately: String { String(decoding: lastWords, as: UTF8.self) }
}
