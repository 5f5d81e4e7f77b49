internal import DeviceNames

/// Collects errors while a configuration is read.
final class ConfigurationReader {
  private let file: String
  private var errors: [ConfigurationError] = []

  init(file: String) {
    self.file = file
  }

  /// The content of a configuration file; nil if there is none.
  static func content(of path: String) throws(ConfigurationErrors) -> [UInt8]? {
    do throws(FileError) {
      return try AtomicFile(path: path).read(maximum: YAMLComposer.maximumBytes + 1)
    } catch {
      throw ConfigurationErrors(errors: [ConfigurationError(file: path, message: "\(error)")])
    }
  }

  /// What `read` makes of a file; nil for an empty one. `file` is only used in errors; all that are found are thrown.
  static func parse<Result>(
    _ bytes: [UInt8], file: String, read: (YAMLNode, ConfigurationReader) -> Result
  ) throws(ConfigurationErrors) -> Result? {
    let reader = ConfigurationReader(file: file)
    let root = reader.compose(bytes)
    if let errors = reader.result { throw errors }
    guard let root, !root.isNull else { return nil }
    let result = read(root, reader)
    if let errors = reader.result { throw errors }
    return result
  }

  private func compose(_ bytes: [UInt8]) -> YAMLNode? {
    do throws(YAMLError) {
      return try YAMLComposer.compose(bytes)
    } catch {
      // An address is the only value here that begins with a bracket and is not a list.
      let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
      let isListen = error.mark.map {
        lines.indices.contains($0.line - 1) && lines[$0.line - 1].starts(with: "listen:".utf8)
      }
      let hint = isListen == true ? "; an address with brackets must stand in quotes" : ""
      report(line: error.mark?.line, column: error.mark?.column, error.key, "\(error.message)\(hint)")
      return nil
    }
  }

  /// Records an error at a node.
  func report(_ node: YAMLNode?, _ key: String, _ message: String) {
    report(line: node?.mark.line, column: node?.mark.column, key, message)
  }

  func report(line: Int?, column: Int?, _ key: String, _ message: String) {
    errors.append(ConfigurationError(file: file, line: line, column: column, key: key, message: message))
  }

  /// The errors, ordered by line; nil if there are none.
  var result: ConfigurationErrors? {
    guard !errors.isEmpty else { return nil }
    let sorted = errors.enumerated().sorted { left, right in
      (left.element.line ?? 0, left.offset) < (right.element.line ?? 0, right.offset)
    }.map(\.element)
    let kept = Array(sorted.prefix(ConfigurationErrors.maximum))
    return ConfigurationErrors(errors: kept, omitted: sorted.count - kept.count)
  }

  /// Reads a mapping by a table of its keys, in the table's order; reports others. False if it is not a mapping.
  func read<Result>(_ node: YAMLNode, path: String, _ keys: [ConfigurationKey<Result>], into result: inout Result)
    -> Bool
  {
    guard let section = section(node, path: path, keys: keys.map(\.name)) else { return false }
    for key in keys { key.read(section, &result) }
    return true
  }

  /// A mapping whose keys are all among `keys`; reports others. Nil if it is not a mapping.
  func section(_ node: YAMLNode, path: String, keys: [String]) -> ConfigurationSection? {
    guard let mapping = node.mapping else {
      report(node, path, "must be keys with values (\(keys.joined(separator: ", "))), but is \(node.kind)")
      return nil
    }
    var values: [String: YAMLNode] = [:]
    for (key, value) in mapping {
      guard let name = key.scalar?.string else {
        report(key, path, "a key must be a word, but is \(key.kind)")
        continue
      }
      guard keys.contains(name) else {
        let full = path.isEmpty ? name : "\(path).\(name)"
        report(key, full, "unknown key; allowed here: \(keys.joined(separator: ", "))")
        continue
      }
      values[name] = value
    }
    return ConfigurationSection(reader: self, path: path, node: node, values: values)
  }
}

/// One mapping of the file. Each accessor returns the default if the key is missing or its value is refused.
struct ConfigurationSection {
  let reader: ConfigurationReader
  let path: String
  let node: YAMLNode
  let values: [String: YAMLNode]

  func path(_ key: String) -> String {
    path.isEmpty ? key : "\(path).\(key)"
  }

  func integer(_ key: String, default fallback: Int, in range: ClosedRange<Int>, mustBeEven: Bool = false) -> Int {
    guard let node = values[key] else { return fallback }
    let what = "must be \(mustBeEven ? "an even" : "a") number from \(range.lowerBound) to \(range.upperBound)"
    guard let number = Self.integer(node), range.contains(number), !mustBeEven || number.isMultiple(of: 2) else {
      reader.report(node, path(key), "\(what), but is \(node.kind)")
      return fallback
    }
    return number
  }

  /// Rounded to a whole number: a camera's rate may be written as `29.97`.
  func roundedNumber(_ key: String, default fallback: Double, in range: ClosedRange<Int>) -> Double {
    guard let node = values[key] else { return fallback }
    let parts = (node.scalar.flatMap { $0.isPlain ? $0.string : nil } ?? "").split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let isNumber =
      (1...2).contains(parts.count)
      && parts.allSatisfy { part in
        (1...9).contains(part.utf8.count) && part.utf8.allSatisfy { 48...57 ~= $0 }
      }
    guard isNumber, parts[0] == "0" || !parts[0].hasPrefix("0"), let whole = Int(parts[0]),
      case let rounded = whole + (parts.count == 2 && parts[1].utf8.first.map { $0 >= 53 } == true ? 1 : 0),
      range.contains(rounded)
    else {
      reader.report(
        node, path(key), "must be a number from \(range.lowerBound) to \(range.upperBound), but is \(node.kind)")
      return fallback
    }
    return Double(rounded)
  }

  func boolean(_ key: String, default fallback: Bool) -> Bool {
    guard let node = values[key] else { return fallback }
    guard let value = Self.boolean(node) else {
      reader.report(node, path(key), "must be true or false, but is \(node.kind)")
      return fallback
    }
    return value
  }

  /// `[low, high]`.
  func integerPair(_ key: String, default fallback: ClosedRange<Int>, in range: ClosedRange<Int>) -> ClosedRange<Int> {
    guard let node = values[key] else { return fallback }
    let what = "must be [lowest, highest] with whole numbers from \(range.lowerBound) to \(range.upperBound)"
    guard let items = node.sequence, items.count == 2 else {
      reader.report(node, path(key), "\(what), but is \(node.kind)")
      return fallback
    }
    var numbers: [Int] = []
    for item in items {
      guard let number = Self.integer(item), range.contains(number) else {
        reader.report(item, path(key), "\(what), but has \(item.kind)")
        return fallback
      }
      numbers.append(number)
    }
    guard numbers[0] <= numbers[1] else {
      reader.report(node, path(key), "\(what), but \(numbers[0]) is more than \(numbers[1])")
      return fallback
    }
    return numbers[0]...numbers[1]
  }

  func value<Value: ConfigurationText>(_ key: String, default fallback: Value) -> Value {
    guard let node = values[key] else { return fallback }
    guard let scalar = node.scalar, let value = Value(scalar.string) else {
      reader.report(node, path(key), "must be \(Value.allowed); but is \(node.kind)")
      return fallback
    }
    return value
  }

  /// Text that satisfies `isAllowed`; nil if the key is missing, null or refused. `what` completes "must be …"; secrets
  /// do not appear in messages.
  func text(_ key: String, what: String, isSecret: Bool = false, isAllowed: (String) -> Bool) -> String? {
    guard let node = values[key], !node.isNull else { return nil }
    guard let text = node.scalar?.string, isAllowed(text) else {
      reader.report(node, path(key), "must be \(what)\(isSecret ? "" : ", but is \(node.kind)")")
      return nil
    }
    return text
  }

  /// One of the words of an enum; nil if the key is missing, null or refused.
  func word<Word: RawRepresentable & CaseIterable>(_ key: String) -> Word? where Word.RawValue == String {
    let words = Word.allCases.map(\.rawValue)
    return text(key, what: "one of " + words.joined(separator: ", "), isAllowed: words.contains).flatMap(Word.init)
  }

  /// The entries of a list; nil if the key is missing or refused.
  func list(_ key: String, maximum: Int) -> [YAMLNode]? {
    guard let node = values[key] else { return nil }
    guard let sequence = node.sequence else {
      reader.report(node, path(key), "must be a list ([] for none), but is \(node.kind)")
      return nil
    }
    guard sequence.count <= maximum else {
      reader.report(node, path(key), "has \(sequence.count) entries; there can be \(maximum)")
      return nil
    }
    return sequence
  }

  /// The mapping below a key; nil if the key is missing or refused.
  func section(_ key: String, keys: [String]) -> ConfigurationSection? {
    values[key].flatMap { reader.section($0, path: path(key), keys: keys) }
  }

  /// Without quotes. YAML 1.2's words alone: `on` and `yes` are other words elsewhere in this file.
  private static func boolean(_ node: YAMLNode) -> Bool? {
    guard let scalar = node.scalar, scalar.isPlain else { return nil }
    return ["true": true, "false": false][scalar.string]
  }

  /// A control's: a boolean is 0 or 1.
  static func controlValue(_ node: YAMLNode) -> Int64? {
    boolean(node).map { $0 ? 1 : 0 } ?? integer(node).map { Int64($0) }
  }

  /// Decimal digits without quotes. YAML's other notations (0x10, 1_000, 1:30) are refused, because they are rarely
  /// intended.
  private static func integer(_ node: YAMLNode) -> Int? {
    guard let scalar = node.scalar, scalar.isPlain,
      scalar.string.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: "-") }),
      scalar.string == "0" || !scalar.string.hasPrefix("0")
    else { return nil }
    return Int(scalar.string)
  }
}
