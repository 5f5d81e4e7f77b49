import Commands
import Glibc
import Storage
import Wire

/// A secret from a file or from standard input. As an argument it stands in `/proc/PID/cmdline`, which every user of the
/// machine may read.
enum SecretOption {
  static let help = "a file that others may not read, or - for a line of standard input."
  private static let maximumBytes = 4096

  /// - Parameter path: `-`: standard input; nil: the option was not given.
  /// - Throws: `Failure`, which does not repeat the content.
  static func read(_ path: String?, _ option: String) throws(Failure) -> String? {
    guard let path else { return nil }
    if path == "-" { return try line(option) }
    do throws(ConfiguredValueError) {
      return try ConfiguredValue.file(path: path, prefix: "").read()
    } catch {
      throw .badConfiguration("\(option): \(error)")
    }
  }

  /// Reads no further than the line: a question may follow.
  private static func line(_ option: String) throws(Failure) -> String {
    if isatty(STDIN_FILENO) == 1 { printError("\(option) -: type it, then Enter") }
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while bytes.count <= maximumBytes {
      let count = Glibc.read(STDIN_FILENO, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1, byte != UInt8(ascii: "\n") else { break }
      bytes.append(byte)
    }
    var text = Substring(decoding: bytes, as: UTF8.self)
    while text.last?.isWhitespace == true { text.removeLast() }
    text = text.drop(while: \.isWhitespace)
    guard !text.isEmpty, bytes.count <= maximumBytes, text.unicodeScalars.allSatisfy(\.isPrintable) else {
      throw .badConfiguration("\(option) -: standard input does not begin with a line of printable text")
    }
    return String(text)
  }
}
