/// One `<type>=<value>` line. RFC 8866 section 5. Trickle ICE fragments consist of them, too (RFC 8840 section 9.2).
public struct SDPLine: Sendable {
  /// Counted from 1.
  public var number: Int
  /// The ASCII letter before the equals sign.
  public var type: UInt8
  /// Everything after the equals sign.
  public var value: Substring

  /// Splits a text into lines at CRLF, LF or CR. RFC 8866 section 5 allows the first two. Blank lines, white space around
  /// a line, a byte order mark, NULs after the last line, and lines that do not begin with a letter and an equals sign mean
  /// nothing and are dropped.
  ///
  /// - Throws: `SDPError` if the text is over `SDPLimits.bytes`, or a line is too long or holds a NUL.
  public static func lines(of text: String) throws(SDPError) -> [SDPLine] {
    guard text.utf8.count <= SDPLimits.bytes else {
      throw SDPError(line: 1, reason: "the description is over \(SDPLimits.bytes) bytes")
    }
    let bytes = text.utf8Span.span
    var lines: [SDPLine] = []
    var count = bytes.count
    while count > 0, bytes[count - 1] == 0 { count -= 1 }
    let hasMark = count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
    var (number, next) = (0, hasMark ? 3 : 0)
    while next < count {
      number += 1
      var start = next
      var end = start
      while end < count, bytes[end] != 10, bytes[end] != 13 { end += 1 }
      next = end + 1
      if next < count, bytes[end] == 13, bytes[next] == 10 { next += 1 }
      while end > start, bytes[end - 1].isBlank { end -= 1 }
      while start < end, bytes[start].isBlank { start += 1 }
      if end == start { continue }
      var isClean = true
      for index in start..<end where bytes[index] == 0 { isClean = false }
      guard end - start <= SDPLimits.lineBytes else {
        throw SDPError(line: number, reason: "the line is over \(SDPLimits.lineBytes) bytes")
      }
      guard isClean else { throw SDPError(line: number, reason: "a NUL within the line") }
      guard end - start >= 2, (97...122).contains(bytes[start]), bytes[start + 1] == 61 else { continue }
      lines.append(SDPLine(number: number, type: bytes[start], value: text.slice(start + 2..<end)))
    }
    return lines
  }

  /// The whole line.
  var text: String { String(UnicodeScalar(type)) + "=" + value }

  /// The name and value of an `a=` line; a property attribute has no value. RFC 8866 section 5.13.
  public var attribute: (name: Substring, value: Substring?) { value.cut(at: 58) }

  /// The name of an `a=` line to compare with: in lower case, although RFC 8866 section 5.13 has names case-sensitive.
  var attributeName: String {
    let name = attribute.name
    return name.utf8.contains { (65...90).contains($0) } ? name.lowercased() : String(name)
  }
}

extension UInt8 {
  /// A space or a tab.
  fileprivate var isBlank: Bool { self == 32 || self == 9 }
}

extension String {
  /// By UTF-8 offsets, which must be character boundaries.
  fileprivate func slice(_ range: Range<Int>) -> Substring {
    let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
    return self[start..<utf8.index(start, offsetBy: range.count)]
  }
}

extension Substring {
  /// The parts before and after the first `separator`; without one, the second is nil.
  func cut(at separator: UInt8) -> (Substring, Substring?) {
    guard let position = utf8.firstIndex(of: separator) else { return (self, nil) }
    return (self[..<position], self[utf8.index(after: position)...])
  }

  /// The parts between single or repeated `separator`s; no empty ones.
  func parts(_ separator: UInt8 = 32) -> [Substring] {
    utf8.split(separator: separator).map { Substring($0) }
  }

  /// A decimal number without sign or white space.
  func number<Number: FixedWidthInteger>(as _: Number.Type) -> Number? {
    guard !isEmpty, utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Number(self)
  }

  /// Without spaces at either end.
  var trimmed: Substring {
    var view = utf8
    while view.first == 32 { view = view.dropFirst() }
    while view.last == 32 { view = view.dropLast() }
    return Substring(view)
  }
}
