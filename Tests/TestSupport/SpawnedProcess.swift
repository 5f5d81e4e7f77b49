public import Foundation

/// A running program that is waited for by its number. Foundation's `Process` waits for a socket to close, which another
/// program that is started at the same moment inherits and keeps open.
public final class SpawnedProcess {
  public struct Problem: Error, CustomStringConvertible {
    public let description: String

    public init(description: String) {
      self.description = description
    }
  }

  /// Nor does it keep such a socket itself.
  private static let closing =
    #"for f in /proc/$$/fd/*; do n=${f##*/}; [ $n -gt 2 ] && eval "exec $n>&-"; done; exec "$@""#

  public let identifier: pid_t
  private var status: Int32?

  /// - Parameter command: found in the PATH of a root shell, with `environment` added to the test's own.
  public init(_ command: [String], environment: [String: String] = [:], input: Int32, output: Int32, errors: Int32)
    throws
  {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in [input, output, errors].enumerated() {
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    // Threads of a test block signals, and a program begins with what the thread that starts it blocks.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var variables = ProcessInfo.processInfo.environment
    variables["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    variables.merge(environment) { $1 }
    var arguments = (["bash", "-c", Self.closing, "bash"] + command).map { strdup($0) } + [nil]
    var assignments = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (arguments + assignments).forEach { free($0) } }
    var identifier = pid_t()
    let error = posix_spawn(&identifier, "/bin/bash", &actions, &attributes, &arguments, &assignments)
    guard error == 0 else { throw Problem(description: "\(command): \(String(cString: strerror(error)))") }
    self.identifier = identifier
  }

  deinit { stop(with: SIGKILL) }

  public var isRunning: Bool {
    if status == nil, waitpid(identifier, &lastStatus, WNOHANG) == identifier { status = lastStatus }
    return status == nil
  }

  /// Sends the signal and waits for the end.
  public func stop(with signal: Int32) {
    guard isRunning else { return }
    kill(identifier, signal)
    _ = wait()
  }

  /// The exit status as waitpid(2) gives it.
  public func wait() -> Int32 {
    if let status { return status }
    while waitpid(identifier, &lastStatus, 0) < 0, errno == EINTR {}
    status = lastStatus
    return lastStatus
  }

  private var lastStatus: Int32 = 0
}
