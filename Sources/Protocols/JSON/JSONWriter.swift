extension JSON {
  /// The value as text on one line, members sorted by name.
  public var text: String { text(pretty: false) }

  /// The value as text, members sorted by name.
  ///
  /// - Parameter pretty: one member or element on each line, indented by two spaces; the form of our files.
  public func text(pretty: Bool) -> String {
    var result = ""
    write(to: &result, indent: pretty ? 0 : nil)
    return result
  }

  /// A JSON string with its quotation marks. RFC 8259 section 7; DEL is escaped too, because terminals act on it.
  public static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{8}": result += "\\b"
      case "\u{c}": result += "\\f"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7f:
        result += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  private func write(to text: inout String, indent: Int?) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .number(let value): text += Self.text(of: value)
    case .string(let value): text += Self.quoted(value)
    case .array(let elements):
      Self.write(elements, "[", "]", to: &text, indent) { element, text, indent in
        element.write(to: &text, indent: indent)
      }
    case .object(let members):
      Self.write(members.sorted { $0.key < $1.key }, "{", "}", to: &text, indent) { member, text, indent in
        text += Self.quoted(member.key) + (indent == nil ? ":" : " : ")
        member.value.write(to: &text, indent: indent)
      }
    }
  }

  private static func write<Element>(
    _ elements: [Element], _ open: String, _ close: String, to text: inout String, _ indent: Int?,
    _ write: (Element, inout String, Int?) -> Void
  ) {
    text += open
    let inner = indent.map { $0 + 2 }
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      if let inner { text += "\n" + String(repeating: " ", count: inner) }
      write(element, &text, inner)
    }
    if let indent, !elements.isEmpty { text += "\n" + String(repeating: " ", count: indent) }
    text += close
  }

  /// Whole numbers without a fraction or exponent, as readers of integers expect.
  private static func text(of number: Double) -> String {
    guard number.isFinite else { return "null" }
    if abs(number) <= 0x1p53, let whole = Int64(exactly: number) { return "\(whole)" }
    return "\(number)"
  }
}
