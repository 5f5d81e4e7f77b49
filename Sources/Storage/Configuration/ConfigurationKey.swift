internal import DeviceNames

/// A key of a section, and how its value gets into the section's result. A section's keys are one table: what is not in it
/// is refused, and a test compares it with the documents.
struct ConfigurationKey<Result>: Sendable {
  let name: String
  /// Dotted names of the keys below it.
  let below: [String]
  let read: @Sendable (_ section: ConfigurationSection, _ result: inout Result) -> Void

  /// A key with a reader of its own.
  init(
    _ name: String, below: [String] = [], read: @escaping @Sendable (ConfigurationSection, inout Result) -> Void
  ) {
    self.name = name
    self.below = below
    self.read = read
  }

  typealias Property<Value> = any WritableKeyPath<Result, Value> & Sendable

  static func boolean(_ name: String, _ property: Property<Bool>) -> Self {
    Self(name) { $1[keyPath: property] = $0.boolean(name, default: $1[keyPath: property]) }
  }

  static func integer(
    _ name: String, _ property: Property<Int>, in range: ClosedRange<Int>, mustBeEven: Bool = false
  ) -> Self {
    Self(name) {
      $1[keyPath: property] = $0.integer(name, default: $1[keyPath: property], in: range, mustBeEven: mustBeEven)
    }
  }

  static func value<Value: ConfigurationText>(_ name: String, _ property: Property<Value>) -> Self {
    Self(name) { $1[keyPath: property] = $0.value(name, default: $1[keyPath: property]) }
  }

  /// Letters, digits, `-` and `_`.
  static func id(_ property: Property<String>) -> Self {
    Self("id") { $1[keyPath: property] = ChildConfiguration.id($0) ?? $1[keyPath: property] }
  }

  static func section<Inner>(_ name: String, _ property: Property<Inner>, _ keys: [ConfigurationKey<Inner>]) -> Self {
    Self(name, below: keys.names()) { section, result in
      guard let node = section.values[name] else { return }
      _ = section.reader.read(node, path: section.path(name), keys, into: &result[keyPath: property])
    }
  }

  /// A list whose entries differ in `id`. `fallback` makes the entry without keys at a position.
  static func list<Entry>(
    _ name: String, _ property: Property<[Entry]>, maximum: Int, _ keys: [ConfigurationKey<Entry>],
    id: any KeyPath<Entry, String> & Sendable, fallback: @escaping @Sendable (Int) -> Entry
  ) -> Self {
    Self(name, below: keys.names()) { section, result in
      guard let nodes = section.list(name, maximum: maximum) else { return }
      let entries = nodes.enumerated().compactMap { index, node in
        var entry = fallback(index)
        return section.reader.read(node, path: "\(name)[\(index)]", keys, into: &entry) ? entry : nil
      }
      ChildConfiguration.refuseDuplicates(entries.map { $0[keyPath: id] }, nodes, name, section.reader)
      result[keyPath: property] = entries
    }
  }
}

extension Array {
  /// Dotted names of the keys and of those below them.
  func names<Result>() -> [String] where Element == ConfigurationKey<Result> {
    flatMap { key in [key.name] + key.below.map { "\(key.name).\($0)" } }
  }
}
