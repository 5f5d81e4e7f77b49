internal import FoundationEssentials

/// JSON for people and programs: keys in a fixed order, slashes as they are.
func encodeJSON(_ value: some Encodable, pretty: Bool = false) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting =
    pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
  guard let data = try? encoder.encode(value) else { preconditionFailure("our own values are always JSON") }
  return String(decoding: data, as: UTF8.self)
}
