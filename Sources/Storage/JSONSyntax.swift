/// Finds where bytes stop being JSON (RFC 8259), so that a damaged store can be reported by its byte. JSONDecoder says
/// whether, not where.
struct JSONSyntax {
  /// Deeper nesting counts as damage; our stores have three levels.
  static let maximumDepth = 64

  private let bytes: [UInt8]
  private var position = 0

  /// The offset of the first byte that cannot stand where it stands, or the end when something is missing there; nil
  /// when all is well formed.
  static func firstError(in bytes: [UInt8]) -> Int? {
    var scanner = JSONSyntax(bytes: bytes)
    guard scanner.value(depth: 0) else { return scanner.position }
    scanner.skipSpace()
    return scanner.position == bytes.count ? nil : scanner.position
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) -> Bool {
    skipSpace()
    guard depth < Self.maximumDepth, let first = current else { return false }
    switch first {
    case UInt8(ascii: "{"):
      return sequence(end: UInt8(ascii: "}")) { scanner in
        guard scanner.string() else { return false }
        scanner.skipSpace()
        return scanner.take(UInt8(ascii: ":")) && scanner.value(depth: depth + 1)
      }
    case UInt8(ascii: "["): return sequence(end: UInt8(ascii: "]")) { $0.value(depth: depth + 1) }
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "t"): return word("true")
    case UInt8(ascii: "f"): return word("false")
    case UInt8(ascii: "n"): return word("null")
    default: return number()
    }
  }

  private mutating func sequence(end: UInt8, _ element: (inout JSONSyntax) -> Bool) -> Bool {
    position += 1
    skipSpace()
    if take(end) { return true }
    while true {
      skipSpace()
      guard element(&self) else { return false }
      skipSpace()
      if take(end) { return true }
      guard take(UInt8(ascii: ",")) else { return false }
    }
  }

  private mutating func word(_ word: StaticString) -> Bool {
    word.withUTF8Buffer { letters in
      for letter in letters {
        guard take(letter) else { return false }
      }
      return true
    }
  }

  private mutating func string() -> Bool {
    guard take(UInt8(ascii: "\"")) else { return false }
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return true
      case UInt8(ascii: "\\"):
        position += 1
        guard escape() else { return false }
      case 0..<0x20: return false
      default: position += 1
      }
    }
    return false
  }

  private mutating func escape() -> Bool {
    guard let byte = current else { return false }
    if byte == UInt8(ascii: "u") {
      position += 1
      for _ in 0..<4 {
        guard let digit = current, Character(Unicode.Scalar(digit)).isHexDigit else { return false }
        position += 1
      }
      return true
    }
    guard "\"\\/bfnrt".utf8.contains(byte) else { return false }
    position += 1
    return true
  }

  private mutating func digits() -> Bool {
    let start = position
    while let byte = current, (0x30...0x39).contains(byte) { position += 1 }
    return position > start
  }

  private mutating func number() -> Bool {
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")), !digits() { return false }
    if take(UInt8(ascii: ".")), !digits() { return false }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      position += 1
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      return digits()
    }
    return true
  }
}
