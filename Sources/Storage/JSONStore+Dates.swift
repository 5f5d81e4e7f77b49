public import FoundationEssentials
public import JSON

/// Dates are stored as ISO 8601 text, UTC: `2026-11-21T20:00:00Z`.
extension Date: JSONRepresentable {
  public init?(json: JSON) {
    guard let text = json.string, let date = try? Date(text, strategy: .iso8601) else { return nil }
    self = date
  }

  public var json: JSON { .string(formatted(.iso8601)) }
}
