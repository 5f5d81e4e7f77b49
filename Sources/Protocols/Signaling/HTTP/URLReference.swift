/// The parts of a URL reference, unresolved. RFC 3986 sections 4.1 and appendix B.
struct URLReference {
  var scheme: Substring?
  var authority: Substring?
  var path: String
  var query: Substring?

  /// - Throws: `HTTPURLError` for text that is too long, or with bytes that must be percent-encoded, which could end the
  ///   request line.
  init(_ text: String) throws(HTTPURLError) {
    guard text.utf8.count <= HTTPURL.maximumBytes else {
      throw HTTPURLError(reason: "the URL is over \(HTTPURL.maximumBytes) bytes")
    }
    guard text.utf8.allSatisfy(Self.isAllowed) else {
      throw HTTPURLError(reason: "the URL contains a character that must be percent-encoded")
    }
    var rest = text[...]
    if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<hash] }
    if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
      query = rest[rest.utf8.index(after: mark)...]
      rest = rest[..<mark]
    }
    let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    if let colon = rest.utf8[..<slash].firstIndex(of: UInt8(ascii: ":")) {
      scheme = rest[..<colon]
      rest = rest[rest.utf8.index(after: colon)...]
    }
    if rest.utf8.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
      authority = rest[..<end]
      rest = rest[end...]
    }
    path = String(rest)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"):
      false
    default: (0x21...0x7e).contains(byte)
    }
  }
}
