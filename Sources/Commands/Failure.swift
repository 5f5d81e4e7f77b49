internal import Glibc

/// Ends a command with a message for people and an exit status: 1 failed, 2 wrong usage or bad configuration.
struct Failure: Error {
  var status: Int32
  var message: String

  static func failed(_ message: String) -> Failure { Failure(status: 1, message: message) }
  static func badConfiguration(_ message: String) -> Failure { Failure(status: 2, message: message) }
}

/// One line to standard error, in one write, so that lines of several threads stay whole.
func printError(_ text: String) {
  let bytes = Array((text + "\n").utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
