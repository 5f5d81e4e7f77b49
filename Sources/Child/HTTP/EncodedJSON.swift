internal import JSON

/// JSON output with members sorted by name.
func encodeJSON(_ value: some Encodable, pretty: Bool = false) -> String {
  JSON.text(value, pretty: pretty)
}
