internal import Wire

/// A value with a text form, which is the same in the configuration file and on the command line.
public protocol ConfigurationText: LosslessStringConvertible, Hashable, Sendable {
  /// The allowed forms, for an error message.
  static var allowed: String { get }
}

extension String {
  /// What follows the prefix; nil without it.
  package func after(prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }

  /// Whether it can be a path: not empty, all printable. PATH_MAX is 4096.
  package var isPlainPath: Bool {
    (1..<4096).contains(utf8.count) && unicodeScalars.allSatisfy(\.isPrintable)
  }

  var filePath: String? {
    after(prefix: "file:").flatMap { $0.isPlainPath ? $0 : nil }
  }
}
