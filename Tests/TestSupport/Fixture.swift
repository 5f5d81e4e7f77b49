internal import Glibc

/// Files below Tests/Fixtures: one raw packet or one text each, named for its case.
public enum Fixture {
  /// The fixture's bytes; a missing one is a mistake in the test and ends it.
  public static func bytes(_ name: String, testsFile: String = #filePath) -> [UInt8] {
    let folder = testsFile.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    let path = "\(folder)/Fixtures/\(name)"
    guard let file = fopen(path, "rb") else { preconditionFailure("no fixture \(path)") }
    defer { fclose(file) }
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return result }
      result += buffer.prefix(count)
    }
  }

  /// The fixture as UTF-8 text.
  public static func text(_ name: String, testsFile: String = #filePath) -> String {
    String(decoding: bytes(name, testsFile: testsFile), as: UTF8.self)
  }

  /// Bytes from hexadecimal text; white space is ignored.
  public static func hex(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue!) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
