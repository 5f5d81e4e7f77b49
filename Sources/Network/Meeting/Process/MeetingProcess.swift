internal import Glibc
internal import Linux

/// Owns a running process that serves one connection, and the socket to it.
struct MeetingProcess: ~Copyable {
  let descriptor: Int32
  private let process: pid_t

  /// Throws the errno of socketpair(2) or posix_spawn(3).
  init(_ program: MeetingProgram) throws(ProgramStart.Failure) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw ProgramStart.Failure(number: errno)
    }
    defer { close(ends[1]) }
    do throws(ProgramStart.Failure) {
      process = try ProgramStart.spawn(
        program.words, file: program.path, input: .descriptor(ends[1]), output: .nothing, errors: .nothing,
        omitted: MeetingProgram.omittedVariables)
    } catch {
      close(ends[0])
      throw error
    }
    descriptor = ends[0]
  }

  /// Ends the process, whatever it does. It has nothing that could be lost.
  deinit {
    close(descriptor)
    kill(process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
  }

  /// Of all its threads; zero once it has ended.
  var processorTime: Duration {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return .zero }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// How it has ended, for a person. It has closed its socket, so it ends at this moment.
  func ending() -> (words: String, isTooCostly: Bool) {
    for _ in 0..<100 {
      var information = siginfo_t()
      // Leaves its number to `deinit`.
      waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
      if let words = Self.words(information) {
        return Self.isTooCostly(information)
          ? (Self.tooCostly, true) : ("its connection process ended (\(words))", false)
      }
      usleep(10_000)
    }
    return ("its connection process hangs", false)
  }

  /// For a person: `ProcessorBudget` has ended it, or would have if it had been given the time.
  static let tooCostly =
    "what it sent took seconds of processor time (a password with too many iterations, or XML that grows), so this place is tried less and less often"

  private static func isTooCostly(_ information: siginfo_t) -> Bool {
    information.si_code == Int32(CLD_KILLED) && status(information) == SIGXCPU
  }

  // si_status is a macro: three words and two ids stand before it (linux/asm-generic/siginfo.h).
  private static func status(_ information: siginfo_t) -> Int32 {
    withUnsafeBytes(of: information) { $0.loadUnaligned(fromByteOffset: 24, as: Int32.self) }
  }

  /// Nil while it runs.
  private static func words(_ information: siginfo_t) -> String? {
    switch information.si_code {
    case 0: return nil
    case Int32(CLD_EXITED): return "exit status \(status(information))"
    default: return "signal \(status(information))"
    }
  }
}
