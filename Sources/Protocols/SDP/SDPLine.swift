/// One `<type>=<value>` line. RFC 8866 section 5. Trickle ICE fragments consist of them, too (RFC 8840 section 9.2).
public struct SDPLine: Sendable {
  /// Counted from 1.
  public var number: Int
  /// The ASCII letter before the equals sign.
  public var type: UInt8
  /// Everything after the equals sign.
  public var value: Substring

  /// Splits a text into lines at CRLF or bare LF and drops blank lines. RFC 8866 section 5 allows both line endings,
  /// but no blank lines; hand-written descriptions have them.
  ///
  /// - Throws: `SDPError` if the text is over `SDPLimits.bytes`, or a line is too long, holds a NUL or a lone CR, or
  ///   does not begin with a letter and an equals sign.
  public static func lines(of text: String) throws(SDPError) -> [SDPLine] {
    guard text.utf8.count <= SDPLimits.bytes else {
      throw SDPError(line: 1, reason: "the description is over \(SDPLimits.bytes) bytes")
    }
    let bytes = text.utf8Span.span
    var lines: [SDPLine] = []
    var (number, next) = (0, 0)
    while next < bytes.count {
      number += 1
      let start = next
      var end = start
      var isClean = true
      while end < bytes.count, bytes[end] != 10 {
        let isWithin = end + 1 < bytes.count && bytes[end + 1] != 10
        if bytes[end] == 0 || bytes[end] == 13 && isWithin { isClean = false }
        end += 1
      }
      next = end + 1
      if end > start, bytes[end - 1] == 13 { end -= 1 }
      if end == start { continue }
      guard end - start <= SDPLimits.lineBytes else {
        throw SDPError(line: number, reason: "the line is over \(SDPLimits.lineBytes) bytes")
      }
      guard isClean else {
        throw SDPError(line: number, reason: "a NUL or a lone carriage return within the line")
      }
      guard end - start >= 2, (97...122).contains(bytes[start]), bytes[start + 1] == 61 else {
        throw SDPError(line: number, reason: "a line begins with a lower-case letter and an equals sign")
      }
      lines.append(SDPLine(number: number, type: bytes[start], value: text.slice(start + 2..<end)))
    }
    return lines
  }

  /// The name and value of an `a=` line; a property attribute has no value. RFC 8866 section 5.13.
  public var attribute: (name: Substring, value: Substring?) { value.cut(at: 58) }
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
