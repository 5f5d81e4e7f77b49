internal import FoundationEssentials

/// What programs read: one JSON value on one line, members in a fixed order.
public enum JSONLine {
  public static func text(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("our own values are always JSON") }
    return String(decoding: data, as: UTF8.self)
  }
}
