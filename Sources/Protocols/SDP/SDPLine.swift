/// One `<type>=<value>` line. RFC 8866 section 5. Also what trickle fragments are made of (RFC 8840 section 9.2).
public struct SDPLine: Sendable {
  /// Counted from 1.
  public var number: Int
  /// The ASCII letter before the equals sign.
  public var type: UInt8
  /// Everything after the equals sign.
  public var value: Substring

  /// Cuts a text into lines at CRLF or bare LF, and leaves blank lines out. RFC 8866 section 5 allows both ends;
  /// blank lines are no part of it, but hand-made descriptions have them.
  ///
  /// - Throws: `SDPError` if the text is over `SDPLimits.bytes`, or a line is too long, holds a NUL or a lone CR, or
  ///   does not begin with a letter and an equals sign.
  public static func lines(of text: String) throws(SDPError) -> [SDPLine] {
    guard text.utf8.count <= SDPLimits.bytes else {
      throw SDPError(line: 1, reason: "the description is over \(SDPLimits.bytes) bytes")
    }
    var lines: [SDPLine] = []
    for (index, part) in text.utf8.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
      var line = Substring(part)
      if line.utf8.last == 13 { line = Substring(line.utf8.dropLast()) }
      if line.isEmpty { continue }
      let number = index + 1
      guard line.utf8.count <= SDPLimits.lineBytes else {
        throw SDPError(line: number, reason: "the line is over \(SDPLimits.lineBytes) bytes")
      }
      guard !line.utf8.contains(where: { $0 == 0 || $0 == 13 }) else {
        throw SDPError(line: number, reason: "a NUL or a lone carriage return within the line")
      }
      guard let type = line.utf8.first, (97...122).contains(type), line.utf8.dropFirst().first == 61 else {
        throw SDPError(line: number, reason: "a line begins with a lower-case letter and an equals sign")
      }
      lines.append(SDPLine(number: number, type: type, value: Substring(line.utf8.dropFirst(2))))
    }
    return lines
  }

  /// The name and value of an `a=` line; a property attribute has no value. RFC 8866 section 5.13.
  public var attribute: (name: Substring, value: Substring?) { value.cut(at: 58) }
}

extension Substring {
  /// What is before and after the first `separator`; nil after it when there is none.
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
