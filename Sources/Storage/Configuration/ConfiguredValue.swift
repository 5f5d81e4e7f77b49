internal import DeviceNames
internal import Wire

/// A value that may be a secret.
public enum ConfiguredValue: Sendable, Hashable {
  case text(String)
  /// `prefix`, then the content of a file without white space around it.
  case file(path: String, prefix: String)

  /// In bytes.
  static let maximum = 4096

  /// The value. Reads the file.
  ///
  /// - Throws: `ConfiguredValueError`, which does not repeat the content.
  public func read() throws(ConfiguredValueError) -> String {
    guard case .file(let path, let prefix) = self else {
      guard case .text(let text) = self else { preconditionFailure("there are two cases") }
      return text
    }
    do throws(PrivateFileError) {
      try PrivateFileError.checkSharedKey(path)
    } catch {
      throw ConfiguredValueError(description: "\(error)")
    }
    let bytes: [UInt8]?
    do throws(FileError) {
      bytes = try AtomicFile(path: path).read(maximum: Self.maximum)
    } catch {
      throw ConfiguredValueError(description: "\(error)")
    }
    guard let bytes else { throw ConfiguredValueError(description: "there is no file \(path)") }
    let isSpace = { (byte: UInt8) in byte == 10 || byte == 13 || byte == 9 || byte == 32 }
    let content = String(
      decoding: bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed(), as: UTF8.self)
    guard !content.isEmpty else { throw ConfiguredValueError(description: "\(path) is empty") }
    guard Self.isAllowed(content) else {
      throw ConfiguredValueError(description: "\(path) must hold one line of printable text")
    }
    return prefix + content
  }

  static func isAllowed(_ text: String) -> Bool {
    (1...maximum).contains(text.utf8.count) && text.unicodeScalars.allSatisfy(\.isPrintable)
  }
}

/// Why a value from a file cannot be used. Never repeats the content.
public struct ConfiguredValueError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String
}

// MARK: - Reading

extension ChildConfiguration {
  /// Text, or `{file: PATH, prefix: TEXT}`. Values do not appear in messages.
  static func value(
    _ node: YAMLNode, _ path: String, _ reader: ConfigurationReader
  ) -> ConfiguredValue? {
    if let text = node.scalar?.string {
      guard !node.isNull, ConfiguredValue.isAllowed(text) else {
        reader.report(node, path, "must be 1 to \(ConfiguredValue.maximum) bytes of printable text, or {file: PATH}")
        return nil
      }
      return .text(text)
    }
    guard let section = reader.section(node, path: path, keys: ["file", "prefix"]) else { return nil }
    guard section.values["file"] != nil else {
      reader.report(node, section.path("file"), "is missing: the file with the value")
      return nil
    }
    guard let file = section.text("file", what: "a file", isAllowed: { $0.isPlainPath && $0.hasPrefix("/") }) else {
      return nil
    }
    let prefix = section.text(
      "prefix", what: "printable text", isSecret: true, isAllowed: ConfiguredValue.isAllowed)
    return .file(path: file, prefix: prefix ?? "")
  }
}
