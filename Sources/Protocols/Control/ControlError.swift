/// Why a command was not carried out; sent as the reply `error`.
public struct ControlError: Error, Hashable, Sendable, CustomStringConvertible {
  /// interfaces/wire.md, "Data channel".
  public enum Code: String, CaseIterable, Codable, Sendable {
    /// Not a JSON object with a `text`, or too large.
    case badMessage = "bad-message"
    case unknownCommand = "unknown-command"
    /// The message names the parameter.
    case badParameters = "bad-parameters"
    case notPermitted = "not-permitted"
    /// The device is missing or cannot do this.
    case unavailable
    /// Somebody else is using it, or too many commands came at once; it may work later.
    case busy
    /// A fault in the child.
    case `internal`
  }

  public var code: Code
  /// For people: what is wrong and how to put it right. Contains no secrets.
  public var message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public static func badParameter(_ name: String, _ why: String) -> ControlError {
    ControlError(.badParameters, "\"\(name)\" \(why).")
  }

  public var description: String { "\(message) (\(code.rawValue))" }
}
