internal import DeviceNames

/// A position in the text, counted from 1.
struct YAMLMark: Hashable {
  var line: Int
  /// In Unicode scalars; nil for the line as a whole.
  var column: Int?
}

/// One value of a YAML document with its position. YAML 1.1, chapter 3, without aliases and tags.
struct YAMLNode {
  enum Content {
    case scalar(YAMLScalar)
    case sequence([YAMLNode])
    /// In document order; keys are unique.
    case mapping([(key: YAMLNode, value: YAMLNode)])
  }

  var content: Content
  var mark: YAMLMark

  var scalar: YAMLScalar? {
    if case .scalar(let scalar) = content { scalar } else { nil }
  }

  var sequence: [YAMLNode]? {
    if case .sequence(let nodes) = content { nodes } else { nil }
  }

  var mapping: [(key: YAMLNode, value: YAMLNode)]? {
    if case .mapping(let pairs) = content { pairs } else { nil }
  }

  /// `null`, `~` or empty, without quotes. YAML 1.2 section 10.2.1.1.
  var isNull: Bool {
    guard let scalar, scalar.isPlain else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  /// A description for error messages.
  var kind: String {
    switch content {
    case .scalar(let scalar): isNull ? "empty" : scalar.quoted
    case .mapping: "keys with values"
    case .sequence: "a list"
    }
  }
}

struct YAMLScalar {
  var string: String
  /// Unquoted, so it may be a number or empty.
  var isPlain: Bool

  /// In quotes, without what looks like a credential. Of a long one the beginning, and how long it is.
  fileprivate var quoted: String {
    let shown = CredentialMask.masked(command: string)
    return shown.count > 40 ? "“\(shown.prefix(40))…” (\(string.utf8.count) bytes)" : "“\(shown)”"
  }
}

/// Why a text was refused.
struct YAMLError: Error {
  /// Nil if no single position is the cause.
  var mark: YAMLMark?
  /// The dotted key concerned; empty for the file.
  var key = ""
  var message: String
}
