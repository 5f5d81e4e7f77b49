internal import FoundationEssentials

/// What a child says unasked on the `control` channel. INTERFACES.md, "Data channel".
package enum ChildMessage: Hashable {
  case hello(name: String)
  case goodbye(reason: String)

  private struct Envelope: Decodable {
    struct Parameters: Decodable {
      var name: String?
      var reason: String?
    }

    var text: String
    var parameters: Parameters?
  }

  static let channelLabel = "control"
  static let channelProtocol = "cradle.control.v1"
  private static let mostBytes = 64 * 1024

  /// Nil for what is none of these.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.mostBytes,
      let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(text.utf8))
    else { return nil }
    switch envelope.text {
    case "hello": self = .hello(name: Self.printable(envelope.parameters?.name ?? ""))
    case "goodbye": self = .goodbye(reason: Self.printable(envelope.parameters?.reason ?? ""))
    default: return nil
    }
  }

  /// A terminal shows it, so it has no control characters and no more than a line's part.
  private static func printable(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.filter { $0.value >= 32 && !(127...159).contains($0.value) }.prefix(64)))
  }
}
