internal import Wire

/// A credential that was found in a command, to be found again in other texts: in upper or lower case, percent-encoded (RFC 3986
/// section 2.1), as a form sends it, escaped for a shell, JSON, C or XML, in hexadecimal, in base64 (RFC 4648 section 4),
/// wrapped over lines, and with its end missing where a text ends.
struct RepeatedSecret: Hashable, Sendable {
  private enum Form { case plain, hexadecimal, base64 }

  /// In lower case.
  private let bytes: [UInt8]
  private let form: Form

  /// Shorter ones count only as words of their own: they are found in words that have nothing to do with them.
  private static let shortest = 4
  /// So much of one at the end of a text is taken for its beginning.
  private static let least = 3

  /// What to look for where these were found. The longest first: one may be part of another.
  static func all(of texts: [String]) -> [RepeatedSecret] {
    let written = Set(texts.map { Array($0.utf8) })
    let decoded = written.union(written.map(PercentEncoding.decoded)).union(
      written.map { PercentEncoding.decoded($0.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }) })
    var all: Set<RepeatedSecret> = []
    for bytes in decoded where bytes.count > 1 && bytes != Array(CredentialMask.mark.utf8) {
      let text = String(decoding: bytes, as: UTF8.self)
      for variant in Set([bytes, Array(text.lowercased().utf8), Array(text.uppercased().utf8)]) {
        all.insert(RepeatedSecret(bytes: variant.map(\.lowercased), form: .plain))
        guard variant.count >= shortest else { continue }
        all.insert(RepeatedSecret(bytes: Array(variant.hexadecimal().utf8), form: .hexadecimal))
        for base64 in base64(variant) { all.insert(RepeatedSecret(bytes: base64.map(\.lowercased), form: .base64)) }
      }
    }
    return all.sorted {
      $0.bytes.count == $1.bytes.count
        ? $0.bytes.lexicographicallyPrecedes($1.bytes) : $0.bytes.count > $1.bytes.count
    }
  }

  /// The digits that are the same whatever stands before and after: for each of the three places in a group of three bytes where it can begin.
  private static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
    (0..<3).map { offset in
      let digits = Base64URL.encode(Array(repeating: 0, count: offset) + bytes).utf8
      return Array(digits.dropFirst(offset == 0 ? 0 : offset + 1).dropLast((offset + bytes.count) % 3 == 0 ? 0 : 1))
    }
  }

  static func mask(_ secrets: [RepeatedSecret], in text: String) -> String {
    guard !secrets.isEmpty else { return text }
    let old = Array(text.utf8)
    // By the first byte: most places of a text begin none.
    var byFirst = [[RepeatedSecret]](repeating: [], count: 256)
    for secret in secrets { byFirst[Int(secret.bytes[0].normalized)].append(secret) }
    var new: [UInt8] = []
    var place = 0
    var hasFound = false
    while place < old.count {
      let isEscape = escapeSigns.contains(old[place])
      let candidates = isEscape ? secrets : byFirst[Int(old[place].normalized)]
      if let end = candidates.lazy.compactMap({ $0.end(in: old, at: place) }).first {
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
    let isShort = bytes.count < Self.shortest
    if isShort, start > 0, text[start - 1].isOfWord, !Self.endsWithEscape(text[..<start]) { return nil }
    // One sign may stand for itself or begin an escape.
    var places: Set = [start]
    for (index, byte) in bytes.enumerated() {
      var next: Set<Int> = []
      for var place in places {
        if index > 0, !isShort { place = afterSeparator(in: text, at: place, index) }
        guard place < text.count else {
          // Something has cut the text.
          if index >= Self.least { return text.count }
          continue
        }
        if isSame(text[place], byte) { next.insert(place + 1) }
        for end in escapes(of: byte, in: text, at: place) { next.insert(end) }
      }
      guard !next.isEmpty else { return nil }
      places = next
    }
    let end = places.filter { !isShort || $0 == text.count || !text[$0].isOfWord }.max()
    guard form == .base64, let end else { return end }
    // The digits after it still have bits of it.
    return text[end...].firstIndex { !$0.isBase64 } ?? text.count
  }

  private func isSame(_ written: UInt8, _ byte: UInt8) -> Bool {
    switch form {
    case .base64: written.normalized == byte.normalized
    case .plain, .hexadecimal: written.lowercased == byte
    }
  }

  /// Lines are wrapped anywhere, and the next one may be indented; bytes in hexadecimal are set apart.
  private func afterSeparator(in text: [UInt8], at start: Int, _ index: Int) -> Int {
    var place = start
    if form == .hexadecimal, index.isMultiple(of: 2) {
      while place < min(start + 6, text.count), " :-,_\r\n\t".utf8.contains(text[place]) { place += 1 }
      return text[place...].starts(with: "0x".utf8) ? place + 2 : place
    }
    if text[place...].starts(with: "\\\n".utf8) { place += 1 }
    guard place < text.count, text[place].isLineBreak else { return start }
    return text[place...].firstIndex { !$0.isLineBreak && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
      ?? text.count
  }

  private static let escapeSigns = Set("+%\\&".utf8)

  private static func endsWithEscape(_ text: ArraySlice<UInt8>) -> Bool {
    let escape = text.suffix(3)
    return escape.first == UInt8(ascii: "%") && escape.dropFirst().hexadecimal?.isOfWord == false
  }

  /// Where escapes of `byte` end that begin at `place`.
  private func escapes(of byte: UInt8, in text: [UInt8], at place: Int) -> [Int] {
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
      return values.filter { $0.hexadecimal.map { isSame($0, byte) } == true }.map(\.endIndex)
    case UInt8(ascii: "\\"):
      let sign = rest.dropFirst()
      guard let first = sign.first else { return [] }
      func isByte(_ value: UInt8?) -> Bool { value.map { isSame($0, byte) } == true }
      if first == UInt8(ascii: "x"), isByte(sign.dropFirst().prefix(2).hexadecimal) { return [place + 4] }
      if sign.starts(with: "u00".utf8), isByte(sign.dropFirst(3).prefix(2).hexadecimal) { return [place + 6] }
      if isByte(UInt8(String(decoding: sign.prefix(3), as: UTF8.self), radix: 8)) { return [place + 4] }
      return !byte.isOfWord && first == byte ? [place + 2] : []
    case UInt8(ascii: "&"): return entity(byte, rest).map { [$0] } ?? []
    default: return []
    }
  }

  /// Where `&amp;`, `&#64;` or `&#x40;` ends, if it stands for `byte`: XML, section 4.1.
  private func entity(_ byte: UInt8, _ rest: ArraySlice<UInt8>) -> Int? {
    guard let end = rest.prefix(10).firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = String(decoding: rest[rest.startIndex + 1..<end], as: UTF8.self)
    let value =
      if name.hasPrefix("#x") || name.hasPrefix("#X") {
        UInt8(name.dropFirst(2), radix: 16)
      } else {
        name.hasPrefix("#") ? UInt8(name.dropFirst()) : Self.names[name]
      }
    return value.map { isSame($0, byte) } == true ? end + 1 : nil
  }

  private static let names = [
    "amp": UInt8(ascii: "&"), "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"), "quot": UInt8(ascii: "\""),
    "apos": UInt8(ascii: "'"),
  ]
}

extension UInt8 {
  fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self }

  /// RFC 4648 section 5 writes two digits of base64 in another way.
  fileprivate var normalized: UInt8 {
    switch self {
    case UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: lowercased
    }
  }

  fileprivate var isLineBreak: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }

  fileprivate var isBase64: Bool { self < 0x80 && isOfWord || "+/-_=".utf8.contains(self) }

  /// Of a word or a number, also of other scripts.
  fileprivate var isOfWord: Bool {
    let character = Character(Unicode.Scalar(self))
    return self >= 0x80 || character.isLetter || character.isNumber
  }
}
