// Just enough JSON to read the texts of a problem; signed and stored JSON is read elsewhere. RFC 8259.
extension JSONText {
  /// The string members of the outermost object that have one of these names; empty when the text is not an object. The
  /// first of several with the same name counts.
  static func strings(of bytes: [UInt8], named names: Set<String>) -> [String: String] {
    var reader = Reader(bytes: bytes)
    var found: [String: String] = [:]
    guard reader.take(UInt8(ascii: "{")) else { return [:] }
    while !reader.take(UInt8(ascii: "}")) {
      guard let name = reader.takeString(), reader.take(UInt8(ascii: ":")) else { return found }
      if let value = reader.takeString() {
        if names.contains(name), found[name] == nil { found[name] = value }
      } else if !reader.skipValue() {
        return found
      }
      if !reader.take(UInt8(ascii: ",")), !reader.isAt(UInt8(ascii: "}")) { return found }
    }
    return found
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    private mutating func skipSpace() {
      while position < bytes.count, [32, 9, 10, 13].contains(bytes[position]) { position += 1 }
    }

    mutating func isAt(_ byte: UInt8) -> Bool {
      skipSpace()
      return position < bytes.count && bytes[position] == byte
    }

    mutating func take(_ byte: UInt8) -> Bool {
      guard isAt(byte) else { return false }
      position += 1
      return true
    }

    /// Nil, without consuming anything, where there is no complete string.
    mutating func takeString() -> String? {
      guard isAt(UInt8(ascii: "\"")) else { return nil }
      var units: [UInt8] = []
      var index = position + 1
      while index < bytes.count {
        let byte = bytes[index]
        index += 1
        if byte == UInt8(ascii: "\"") {
          position = index
          return String(decoding: units, as: UTF8.self)
        }
        guard byte == UInt8(ascii: "\\") else {
          units.append(byte)
          continue
        }
        guard index < bytes.count else { return nil }
        let escape = bytes[index]
        index += 1
        switch escape {
        case UInt8(ascii: "n"): units.append(10)
        case UInt8(ascii: "r"): units.append(13)
        case UInt8(ascii: "t"): units.append(9)
        case UInt8(ascii: "b"), UInt8(ascii: "f"): units.append(32)
        case UInt8(ascii: "u"):
          guard let scalar = takeEscapedScalar(&index) else { return nil }
          units.append(contentsOf: String(scalar).utf8)
        default: units.append(escape)
        }
      }
      return nil
    }

    /// Four hexadecimal digits, or two times four of a surrogate pair with `\u` between. RFC 8259 section 7.
    private func takeEscapedScalar(_ index: inout Int) -> Unicode.Scalar? {
      guard let first = hexadecimal(at: index) else { return nil }
      index += 4
      guard first & 0xfc00 == 0xd800 else { return Unicode.Scalar(first) ?? "\u{fffd}" }
      guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u"),
        let second = hexadecimal(at: index + 2), second & 0xfc00 == 0xdc00
      else { return "\u{fffd}" }
      index += 6
      return Unicode.Scalar(0x10000 + (first & 0x3ff) << 10 + second & 0x3ff)
    }

    private func hexadecimal(at index: Int) -> UInt32? {
      guard index + 4 <= bytes.count else { return nil }
      var value: UInt32 = 0
      for byte in bytes[index..<index + 4] {
        guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
        value = value << 4 | UInt32(digit)
      }
      return value
    }

    /// A number, a literal, an array or an object. Nesting is counted, without recursion.
    mutating func skipValue() -> Bool {
      var depth = 0
      let start = position
      while position < bytes.count {
        switch bytes[position] {
        case UInt8(ascii: "\""):
          guard takeString() != nil else { return false }
          continue
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          guard depth > 0 else { return position > start }
          depth -= 1
        case UInt8(ascii: ",") where depth == 0:
          return position > start
        default: break
        }
        position += 1
      }
      return false
    }
  }
}
