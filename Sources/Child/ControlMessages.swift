internal import FoundationEssentials

/// The chat-style messages of the `control` channel. INTERFACES.md, "Data channel".
package enum ControlMessages {
  /// A message larger than this is refused unread.
  package static let mostBytes = 16 * 1024

  /// A command from a parent.
  package struct Command: Decodable {
    package var id: String?
    package var text: String
  }

  package enum Failure: String {
    case badMessage = "bad-message"
    case unknownCommand = "unknown-command"
    case notPermitted = "not-permitted"
    case unavailable
  }

  private struct Envelope<Parameters: Encodable>: Encodable {
    var id: String
    var inReplyTo: String?
    var text: String
    var parameters: Parameters
  }

  private struct Problem: Encodable {
    var code: String
    var message: String
  }

  package static func parse(_ text: String) -> Command? {
    guard text.utf8.count <= mostBytes else { return nil }
    return try? JSONDecoder().decode(Command.self, from: Data(text.utf8))
  }

  static func encode(id: String, inReplyTo: String? = nil, text: String, parameters: some Encodable) -> String {
    encodeJSON(Envelope(id: id, inReplyTo: inReplyTo, text: text, parameters: parameters))
  }

  package static func encodeError(id: String, inReplyTo: String?, _ failure: Failure, _ message: String) -> String {
    encode(
      id: id, inReplyTo: inReplyTo, text: "error", parameters: Problem(code: failure.rawValue, message: message))
  }
}

/// JSON for people and programs: keys in a fixed order, slashes as they are.
func encodeJSON(_ value: some Encodable, pretty: Bool = false) -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting =
    pretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
  guard let data = try? encoder.encode(value) else { preconditionFailure("our own values are always JSON") }
  return String(decoding: data, as: UTF8.self)
}
