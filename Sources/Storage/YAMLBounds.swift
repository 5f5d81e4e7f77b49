/// Looks over YAML text before it is parsed, for what a configuration never needs and what could cost a parser time or
/// stack without end: anchors, aliases, tags and deep nesting.
struct YAMLBounds {
  static let maximumBytes = 256 << 10
  /// Brackets within brackets.
  static let maximumFlowDepth = 32
  /// Block nesting costs a column for each level or two, so this bounds it as well.
  static let maximumIndentation = 128

  struct Violation: Hashable {
    /// Counted from 1.
    var line: Int
    var column: Int
    var message: String
  }

  private enum Place {
    /// Between tokens: indicators count here.
    case start
    /// Within a plain scalar.
    case plain
    case single
    case double
    case comment
  }

  private var place = Place.start
  private var line = 1
  private var column = 0
  private var flowDepth = 0
  /// Nothing but spaces and block indicators since the line's begin.
  private var isIndentation = true
  private var afterSpace = true
  /// The byte before was a backslash in double quotes.
  private var escaped = false

  /// The first thing that is refused; nil when there is none.
  static func violation(in bytes: [UInt8]) -> Violation? {
    guard bytes.count <= maximumBytes else {
      return Violation(line: 1, column: 1, message: "the file is larger than \(maximumBytes >> 10) KiB")
    }
    var scan = YAMLBounds()
    for (index, byte) in bytes.enumerated() {
      let next = index + 1 < bytes.count ? bytes[index + 1] : 0x0a
      if let message = scan.step(byte, next: next) {
        return Violation(line: scan.line, column: max(1, scan.column), message: message)
      }
    }
    return nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
  }

  private mutating func step(_ byte: UInt8, next: UInt8) -> String? {
    if byte == 0x0a {
      line += 1
      column = 0
      isIndentation = true
      afterSpace = true
      escaped = false
      // A plain scalar may go on in the next line, but what looks like a new token is taken for one.
      if place == .comment || place == .plain { place = .start }
      return nil
    }
    column += 1
    defer { afterSpace = Self.isSpace(byte) }
    switch place {
    case .comment: return nil
    case .single:
      // A doubled quote ends and begins again, which comes to the same.
      if byte == UInt8(ascii: "'") { place = .plain }
      return nil
    case .double:
      if escaped {
        escaped = false
      } else if byte == UInt8(ascii: "\\") {
        escaped = true
      } else if byte == UInt8(ascii: "\"") {
        place = .plain
      }
      return nil
    case .start, .plain: return token(byte, next: next)
    }
  }

  private mutating func token(_ byte: UInt8, next: UInt8) -> String? {
    let spaceFollows = Self.isSpace(next)
    switch byte {
    case 0x20, 0x09, 0x0d: return nil
    case UInt8(ascii: "#") where afterSpace:
      place = .comment
      return nil
    case UInt8(ascii: "[") where place == .start || flowDepth > 0,
      UInt8(ascii: "{") where place == .start || flowDepth > 0:
      flowDepth += 1
      place = .start
      isIndentation = false
      return flowDepth > Self.maximumFlowDepth ? "brackets are nested too deep" : nil
    case UInt8(ascii: "]") where flowDepth > 0, UInt8(ascii: "}") where flowDepth > 0:
      flowDepth -= 1
      place = .plain
      return nil
    case UInt8(ascii: ",") where flowDepth > 0, UInt8(ascii: ":") where spaceFollows || flowDepth > 0:
      place = .start
      return nil
    case UInt8(ascii: "-") where place == .start && spaceFollows,
      UInt8(ascii: "?") where place == .start && spaceFollows:
      return nil
    default: break
    }
    guard place == .start else { return nil }
    if isIndentation {
      isIndentation = false
      if column > Self.maximumIndentation { return "the line is indented too far" }
    }
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "*"): return "anchors and aliases are not used here; put such text in quotes"
    case UInt8(ascii: "!"): return "tags are not used here; put such text in quotes"
    case UInt8(ascii: "'"): place = .single
    case UInt8(ascii: "\""): place = .double
    default: place = .plain
    }
    return nil
  }
}
