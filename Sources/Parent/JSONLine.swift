internal import JSON

/// What programs read: one JSON value on one line, members sorted by name.
public enum JSONLine {
  public static func text(_ value: some Encodable) -> String { JSON.text(value) }
}
