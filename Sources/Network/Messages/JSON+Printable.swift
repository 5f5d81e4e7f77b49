internal import JSON

extension JSON {
  /// The same value with every text sanitised for a terminal: no control characters, at most `scalars` long.
  func printable(scalars: Int) -> JSON {
    switch self {
    case .null, .bool, .number: self
    case .string(let text): .string(Self.printable(text, scalars: scalars))
    case .array(let elements): .array(elements.map { $0.printable(scalars: scalars) })
    case .object(let members): .object(members.mapValues { $0.printable(scalars: scalars) })
    }
  }

  private static func printable(_ text: String, scalars: Int) -> String {
    // C0, DEL and C1 control a terminal; bidirectional controls make a text look like another one.
    let kept = text.unicodeScalars.lazy.filter { scalar in
      scalar.value >= 32 && !(127...159).contains(scalar.value) && !(0x202a...0x202e).contains(scalar.value)
        && !(0x2066...0x2069).contains(scalar.value)
    }
    return String(String.UnicodeScalarView(kept.prefix(scalars)))
  }
}
