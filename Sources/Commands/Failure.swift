internal import Glibc
internal import Wire

/// Ends a command with a message for people and an exit status: 1 failed, 2 wrong usage or bad configuration.
public struct Failure: Error {
  public var status: Int32
  public var message: String

  public static func failed(_ message: String) -> Failure { Failure(status: 1, message: message) }
  public static func badConfiguration(_ message: String) -> Failure { Failure(status: 2, message: message) }
}

/// Writes `text` and a line break to standard error, in one write, so that lines of several threads stay whole.
public func printError(_ text: String) {
  let bytes = Array((printableLines(text) + "\n").utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// Words for a person, which may quote somebody who is not trusted: nothing in them controls the terminal.
public func printableLines(_ text: String) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0.unicodeScalars.printableScalars) }
    .joined(separator: "\n")
}
