/// Why a command was not carried out, as the reply `error` says it.
public struct ControlError: Error, Hashable, Sendable, CustomStringConvertible {
  /// INTERFACES.md, "Data channel".
  public enum Code: String, CaseIterable, Codable, Sendable {
    /// No JSON object with a `text`, or too large.
    case badMessage = "bad-message"
    case unknownCommand = "unknown-command"
    /// The message names the parameter.
    case badParameters = "bad-parameters"
    case notPermitted = "not-permitted"
    /// The device is not there, or cannot do this.
    case unavailable
    /// Somebody else has it; later it may work.
    case busy
    /// Our fault.
    case `internal`
  }

  public var code: Code
  /// For a person: what is wrong, and what would be right. Nothing secret.
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
