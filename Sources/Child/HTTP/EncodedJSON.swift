internal import FoundationEssentials

/// JSON with sorted keys and unescaped slashes.
func encodeJSON(_ value: some Encodable, pretty: Bool = false) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting =
    pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
  guard let data = try? encoder.encode(value) else { preconditionFailure("our own values are always JSON") }
  return String(decoding: data, as: UTF8.self)
}
