internal import CLinux
internal import Glibc

/// Starts other programs. They get none of our descriptors but those that are named, and a process group of their own.
public enum ProgramStart {
  public struct Failure: Error {
    /// errno of posix_spawn(3): ENOENT if there is no such program.
    public var number: Int32

    public init(number: Int32) {
      self.number = number
    }
  }

  /// What a standard descriptor of the program is.
  public enum Stream: Sendable {
    /// /dev/null.
    case nothing
    case descriptor(Int32)
  }

  /// Starts `words[0]` with the other words as arguments. A name without a slash is looked up in PATH.
  ///
  /// - Parameters:
  ///   - file: what is started in place of `words[0]`, which then is a name alone.
  ///   - omitted: variables of our environment that it does not get.
  /// - Returns: the number of the process, to be waited for.
  public static func spawn(
    _ words: [String], file: String? = nil, input: Stream, output: Stream, errors: Stream, omitted: Set<String> = []
  ) throws(Failure) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    for (number, stream) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
      switch stream {
      case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
      case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      }
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    // We ignore SIGPIPE; a program that writes to a closed pipe shall end.
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { arguments.forEach { free($0) } }
    var variables = environment(without: omitted)
    let status = posix_spawnp(&process, file ?? words[0], &actions, &attributes, &arguments, &variables)
    guard status == 0 else { throw Failure(number: status) }
    return process
  }

  private static func environment(without omitted: Set<String>) -> [UnsafeMutablePointer<CChar>?] {
    var variables: [UnsafeMutablePointer<CChar>?] = []
    var next = clinux_environment()
    while let pointer = next, let variable = pointer.pointee {
      let name = String(cString: variable).prefix { $0 != "=" }
      if !omitted.contains(String(name)) { variables.append(variable) }
      next = pointer.advanced(by: 1)
    }
    return variables + [nil]
  }
}
