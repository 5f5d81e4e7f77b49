internal import Wire

/// A credential that was found in a command, to be found again in other texts: as it is, percent-encoded (RFC 3986 section
/// 2.1), as a form sends it, escaped for a shell, JSON, C or XML, and with its end missing where a text ends.
struct RepeatedSecret: Hashable, Sendable {
  private let bytes: [UInt8]

  /// Shorter ones count only as words of their own: they are found in words that have nothing to do with them.
  private static let shortest = 4
  /// So much of one at the end of a text is taken for its beginning.
  private static let least = 3

  /// What to look for where these were found. The longest first: one may be part of another.
  static func all(of texts: [String]) -> [RepeatedSecret] {
    let written = Set(texts.map { Array($0.utf8) })
    let plain = written.union(written.map(decoded)).union(
      written.map { decoded($0.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }) })
    // As HTTP's authorization sends it: RFC 7617 section 2.
    let basic = plain.filter { $0.contains(UInt8(ascii: ":")) }.map { Array(base64($0).utf8) }
    return plain.union(basic).filter { $0.count > 1 && $0 != Array(CredentialMask.mark.utf8) }
      .sorted { $0.count == $1.count ? $0.lexicographicallyPrecedes($1) : $0.count > $1.count }
      .map { RepeatedSecret(bytes: $0) }
  }

  static func mask(_ secrets: [RepeatedSecret], in text: String) -> String {
    guard !secrets.isEmpty else { return text }
    let old = Array(text.utf8)
    var new: [UInt8] = []
    var place = 0
    var hasFound = false
    while place < old.count {
      if let end = secrets.lazy.compactMap({ $0.end(in: old, at: place) }).first {
        new += CredentialMask.mark.utf8
        place = end
        hasFound = true
      } else {
        new.append(old[place])
        place += 1
      }
    }
    return hasFound ? String(decoding: new, as: UTF8.self) : text
  }

  // MARK: - Finding it

  /// Where it ends, if it begins at `start`.
  private func end(in text: [UInt8], at start: Int) -> Int? {
    guard text[start] == bytes.first || Self.escapeSigns.contains(text[start]) else { return nil }
    let isShort = bytes.count < Self.shortest
    if isShort, start > 0, text[start - 1].isOfWord { return nil }
    // One sign may stand for itself or begin an escape.
    var places: Set = [start]
    for (index, byte) in bytes.enumerated() {
      var next: Set<Int> = []
      for place in places {
        guard place < text.count else {
          // Something has cut the text.
          if index >= Self.least { return text.count }
          continue
        }
        if text[place] == byte { next.insert(place + 1) }
        for end in Self.escapes(of: byte, in: text, at: place) { next.insert(end) }
      }
      guard !next.isEmpty else { return nil }
      places = next
    }
    return places.filter { !isShort || $0 == text.count || !text[$0].isOfWord }.max()
  }

  private static let escapeSigns = Set("+%\\&".utf8)

  /// Where escapes of `byte` end that begin at `place`.
  private static func escapes(of byte: UInt8, in text: [UInt8], at place: Int) -> [Int] {
    let rest = text[place...]
    switch rest[place] {
    case UInt8(ascii: "+"): return byte == UInt8(ascii: " ") ? [place + 1] : []
    case UInt8(ascii: "%"):
      // Encoded once more, or twice.
      var digits = rest.dropFirst()
      while digits.starts(with: "25".utf8), digits.dropFirst(2).prefix(2).hexadecimal != nil {
        digits = digits.dropFirst(2)
      }
      let values = [rest.dropFirst().prefix(2), digits.prefix(2)]
      return values.filter { $0.hexadecimal == byte }.map(\.endIndex)
    case UInt8(ascii: "\\"):
      let sign = rest.dropFirst()
      guard let first = sign.first else { return [] }
      if first == UInt8(ascii: "x"), sign.dropFirst().prefix(2).hexadecimal == byte { return [place + 4] }
      if sign.starts(with: "u00".utf8), sign.dropFirst(3).prefix(2).hexadecimal == byte { return [place + 6] }
      return first == byte && !byte.isOfWord ? [place + 2] : []
    case UInt8(ascii: "&"): return entity(byte, rest).map { [$0] } ?? []
    default: return []
    }
  }

  /// Where `&amp;`, `&#64;` or `&#x40;` ends, if it stands for `byte`: XML, section 4.1.
  private static func entity(_ byte: UInt8, _ rest: ArraySlice<UInt8>) -> Int? {
    guard let end = rest.prefix(10).firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = String(decoding: rest[rest.startIndex + 1..<end], as: UTF8.self)
    let value =
      if name.hasPrefix("#x") || name.hasPrefix("#X") {
        UInt8(name.dropFirst(2), radix: 16)
      } else {
        name.hasPrefix("#") ? UInt8(name.dropFirst()) : names[name]
      }
    return value == byte ? end + 1 : nil
  }

  private static let names = [
    "amp": UInt8(ascii: "&"), "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"), "quot": UInt8(ascii: "\""),
    "apos": UInt8(ascii: "'"),
  ]

  // MARK: - Other forms

  private static func decoded(_ text: [UInt8]) -> [UInt8] {
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

  /// Without padding: RFC 4648 section 4.
  private static func base64(_ bytes: [UInt8]) -> String {
    Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
  }
}

extension ArraySlice<UInt8> {
  /// The value of two hexadecimal digits.
  fileprivate var hexadecimal: UInt8? {
    guard count == 2, allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    return UInt8(String(decoding: self, as: UTF8.self), radix: 16)
  }
}

extension UInt8 {
  /// Of a word or a number, also of other scripts.
  fileprivate var isOfWord: Bool {
    let character = Character(Unicode.Scalar(self))
    return self >= 0x80 || character.isLetter || character.isNumber
  }
}
