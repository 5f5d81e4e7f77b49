/// Why a session description (or a fragment of one) could not be read.
public struct SDPError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The offending line, counted from 1; one past the last line when something is missing at the end.
  public var line: Int
  /// What is wrong with it, human-readable.
  public var reason: String

  /// The line itself, where it is known and no password.
  public var text: String?

  public init(line: Int, reason: String, text: String? = nil) {
    self.line = line
    self.reason = reason
    self.text = text
  }

  /// `line 7 (a=setup:never): setup is active, passive, actpass or holdconn`.
  public var description: String {
    "line \(line)\(text.map { " (\(SourceLine.shown($0)))" } ?? ""): \(reason)"
  }

  /// With the text of its line.
  func quoting(_ lines: [SDPLine]) -> SDPError {
    guard let quoted = lines.first(where: { $0.number == line }), quoted.attributeName != "ice-pwd" else { return self }
    return SDPError(line: line, reason: reason, text: quoted.text)
  }
}

/// Limits of a description. The largest browser offers stay below a quarter of each.
public enum SDPLimits {
  /// The same as the HTTP body limit of WHEP.
  public static let bytes = 65536
  public static let mediaSections = 32
  public static let lineBytes = 4096
  /// Formats of one media section; RTP has 128 payload types.
  public static let formats = 128
  public static let candidates = 128
  public static let extensions = 64
  public static let sources = 128
  public static let fingerprints = 16
  /// Unknown attributes of one level.
  public static let unknownAttributes = 256
}
