internal import JSON
internal import Wire

extension JSON {
  /// The same value with every text made fit for a terminal (`String.printable`), at most `scalars` long.
  func printable(scalars: Int) -> JSON {
    switch self {
    case .null, .bool, .number: self
    case .string(let text): .string(text.printable(maximum: scalars))
    case .array(let elements): .array(elements.map { $0.printable(scalars: scalars) })
    case .object(let members): .object(members.mapValues { $0.printable(scalars: scalars) })
    }
  }
}
