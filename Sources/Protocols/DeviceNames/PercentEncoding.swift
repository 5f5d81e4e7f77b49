/// RFC 3986 section 2.1.
public enum PercentEncoding {
  /// What is not encoded stays as it is.
  public static func decoded(_ text: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = rest.prefix(2).hexadecimal {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  /// The texts that come of decoding once, and of decoding those again: a URL may stand within another one.
  static func layers(of text: some StringProtocol) -> [String] {
    var layers: [String] = []
    var bytes = Array(text.utf8)
    while layers.count < 3, bytes.contains(UInt8(ascii: "%")) {
      let next = decoded(bytes)
      guard next.count < bytes.count else { break }
      layers.append(String(decoding: next, as: UTF8.self))
      bytes = next
    }
    return layers
  }
}

extension ArraySlice<UInt8> {
  /// The value of two hexadecimal digits.
  var hexadecimal: UInt8? {
    guard count == 2, allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    return UInt8(String(decoding: self, as: UTF8.self), radix: 16)
  }
}
