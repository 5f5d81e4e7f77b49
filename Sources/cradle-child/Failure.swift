internal import Glibc

/// Ends a command with a message for people and an exit status: 1 failed, 2 wrong usage or bad configuration.
struct Failure: Error {
  var status: Int32
  var message: String

  static func failed(_ message: String) -> Failure { Failure(status: 1, message: message) }
  static func badConfiguration(_ message: String) -> Failure { Failure(status: 2, message: message) }
}

func printError(_ text: String) {
  fputs(text + "\n", stderr)
}
