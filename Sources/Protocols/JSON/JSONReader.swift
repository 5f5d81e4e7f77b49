/// Parses the grammar of RFC 8259 from front to back.
struct JSONReader {
  private let bytes: [UInt8]
  private let maximumDepth: Int
  private var position = 0

  /// In bytes. The longest Double that Swift writes has 24.
  private static let maximumNumberLength = 32

  init(bytes: [UInt8], maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
  }

  mutating func readAll() throws(JSONError) -> JSON {
    let value = try readValue(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw malformed }
    return value
  }

  private var malformed: JSONError { .malformed(offset: position) }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    position += 1
    return true
  }

  private mutating func need(_ byte: UInt8) throws(JSONError) {
    guard take(byte) else { throw malformed }
  }

  private mutating func readValue(depth: Int) throws(JSONError) -> JSON {
    skipSpace()
    switch current {
    case UInt8(ascii: "{"): return try readObject(depth: depth + 1)
    case UInt8(ascii: "["): return try readArray(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try readString())
    case UInt8(ascii: "t"):
      try readWord("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try readWord("false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try readWord("null")
      return .null
    default: return .number(try readNumber())
    }
  }

  private mutating func readObject(depth: Int) throws(JSONError) -> JSON {
    guard depth <= maximumDepth else { throw .tooDeep(offset: position) }
    position += 1
    var members: [String: JSON] = [:]
    skipSpace()
    if take(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      skipSpace()
      let start = position
      let name = try readString()
      skipSpace()
      try need(UInt8(ascii: ":"))
      let value = try readValue(depth: depth)
      guard members.updateValue(value, forKey: name) == nil else {
        throw .duplicateMember(name, offset: start)
      }
      skipSpace()
    } while take(UInt8(ascii: ","))
    try need(UInt8(ascii: "}"))
    return .object(members)
  }

  private mutating func readArray(depth: Int) throws(JSONError) -> JSON {
    guard depth <= maximumDepth else { throw .tooDeep(offset: position) }
    position += 1
    var elements: [JSON] = []
    skipSpace()
    if take(UInt8(ascii: "]")) { return .array(elements) }
    repeat {
      elements.append(try readValue(depth: depth))
      skipSpace()
    } while take(UInt8(ascii: ","))
    try need(UInt8(ascii: "]"))
    return .array(elements)
  }

  private mutating func readWord(_ word: String) throws(JSONError) {
    for letter in word.utf8 { try need(letter) }
  }

  // RFC 8259 section 7.
  private mutating func readString() throws(JSONError) -> String {
    let start = position
    try need(UInt8(ascii: "\""))
    var text: [UInt8] = []
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        guard let string = String(validating: text, as: UTF8.self) else { throw .malformed(offset: start) }
        return string
      case UInt8(ascii: "\\"):
        position += 1
        text.append(contentsOf: String(try readEscape()).utf8)
      case 0..<0x20: throw malformed
      default:
        text.append(byte)
        position += 1
      }
    }
    throw malformed
  }

  private mutating func readEscape() throws(JSONError) -> Unicode.Scalar {
    guard let byte = current else { throw malformed }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try readUnicodeEscape()
    default:
      position -= 1
      throw malformed
    }
  }

  /// After `\u`. An unpaired surrogate is not a character, RFC 8259 section 8.2; it is rejected.
  private mutating func readUnicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let first = try readHexadecimal()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first & 0xfc00 == 0xd800, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw malformed }
    let second = try readHexadecimal()
    guard second & 0xfc00 == 0xdc00,
      let scalar = Unicode.Scalar(0x10000 + (UInt32(first & 0x3ff) << 10) + UInt32(second & 0x3ff))
    else { throw malformed }
    return scalar
  }

  private mutating func readHexadecimal() throws(JSONError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw malformed }
      value = value << 4 | UInt16(digit)
      position += 1
    }
    return value
  }

  // RFC 8259 section 6.
  private mutating func readNumber() throws(JSONError) -> Double {
    let start = position
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try readDigits() }
    if take(UInt8(ascii: ".")) { try readDigits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try readDigits()
    }
    guard position - start <= Self.maximumNumberLength,
      let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)), number.isFinite
    else { throw .malformed(offset: start) }
    return number
  }

  private mutating func readDigits() throws(JSONError) {
    let start = position
    while let byte = current, (0x30...0x39).contains(byte) { position += 1 }
    guard position > start else { throw malformed }
  }
}
