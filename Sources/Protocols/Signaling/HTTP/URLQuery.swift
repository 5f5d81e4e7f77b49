/// The part of a URL behind the question mark: `camera=cot&height=360`, percent-encoded. RFC 3986 section 3.4.
public struct URLQuery: Sendable {
  private let pairs: [(name: Substring, value: Substring?)]

  public init(_ text: String) {
    pairs = text.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (parts[0], parts.count == 2 ? parts[1] : nil)
    }
  }

  /// The first value of this name; nil without one.
  ///
  /// - Throws: `Problem` with 400 for a value that is empty, over 64 bytes or not percent-encoded UTF-8.
  public func value(of name: String) throws(Problem) -> String? {
    guard let pair = pairs.first(where: { $0.name == name }) else { return nil }
    guard let encoded = pair.value, let value = Self.percentDecoded(encoded), !value.isEmpty, value.utf8.count <= 64
    else {
      throw Problem(400, "the query's \(name) is malformed")
    }
    return value
  }

  private static func percentDecoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        continue
      }
      let digits = Substring(rest.prefix(2))
      guard digits.utf8.count == 2, digits.utf8.first != UInt8(ascii: "+"), let value = UInt8(digits, radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
