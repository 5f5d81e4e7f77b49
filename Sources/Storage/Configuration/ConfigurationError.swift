/// One error in a configuration file, or in the command-line options that override it.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  public let file: String
  /// Counted from 1; nil if no single line is the cause.
  public var line: Int?
  /// Counted from 1, in Unicode scalars.
  public var column: Int?
  /// Dotted path of the key, such as `cameras[0].width`; empty for the file as a whole.
  public var key = ""
  /// What is wrong, and what is allowed.
  public let message: String

  /// `/etc/cradle/child.yaml:12:5: cameras[0].width: must be …`
  public var description: String {
    var place = file
    if let line {
      place += ":\(line)"
      if let column { place += ":\(column)" }
    }
    return "\(place): \(key.isEmpty ? "" : "\(key): ")\(message)"
  }
}

/// Everything that is wrong in one file, in the order of its lines.
public struct ConfigurationErrors: Error, Hashable, Sendable, CustomStringConvertible {
  /// The maximum number kept.
  public static let maximum = 20

  public let errors: [ConfigurationError]
  /// The number of errors left out.
  public var omitted = 0

  /// One line per error.
  public var description: String {
    (errors.map(\.description) + (omitted > 0 ? ["and \(omitted) more"] : [])).joined(separator: "\n")
  }
}
