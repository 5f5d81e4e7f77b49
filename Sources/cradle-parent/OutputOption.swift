import ArgumentParser
import Commands
import Storage

/// What options that name output have in common.
enum OutputOption {
  /// - Throws: `ValidationError` where both would go to standard output.
  static func refuse(_ path: String?, _ option: String, beside other: String) throws {
    guard let path, OutputPath(path).isStandardOutput else { return }
    throw ValidationError("\(option) \(path) and \(other) would both write to standard output.")
  }
}

extension OutputPath {
  /// What there is to say: where the output itself is not.
  func report(_ text: String) {
    if isStandardOutput { printError(text) } else { print(text) }
  }
}
