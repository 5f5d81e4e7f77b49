/// What a pair record or a token may do. interfaces/wire.md, "Permissions".
public struct Permissions: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// See the picture.
  public static let view = Permissions(rawValue: 1 << 0)
  /// Hear the room.
  public static let listen = Permissions(rawValue: 1 << 1)
  /// Speak into the room.
  public static let talk = Permissions(rawValue: 1 << 2)
  /// Lights, lullabies, cameras and screenshots.
  public static let control = Permissions(rawValue: 1 << 3)
  /// Open the pairing window and revoke others. Never given to a token.
  public static let admin = Permissions(rawValue: 1 << 4)
  /// See and hear what the child has recorded, and have it record. Never given to a token.
  public static let recordings = Permissions(rawValue: 1 << 5)

  /// What a token may be given: a third-party player never administers the node.
  public static let allowedForTokens: Permissions = [.view, .listen, .talk, .control]

  public static let all: Permissions = [.view, .listen, .talk, .control, .admin, .recordings]

  /// What a parent gets of whom nothing else was said.
  public static let everyday: Permissions = [.view, .listen, .talk, .control]

  private static let named: [(name: String, permission: Permissions)] = [
    ("view", .view), ("listen", .listen), ("talk", .talk), ("control", .control), ("admin", .admin),
    ("recordings", .recordings),
  ]

  /// All names, in the order in which they are shown.
  public static var allNames: [String] { named.map(\.name) }

  /// The names of the permissions in the set, in the order in which they are shown.
  public var names: [String] { Self.named.filter { contains($0.permission) }.map(\.name) }

  /// Parses names as in `--allow view,listen`; nil if one is not in `allNames`.
  public init?(names: some Sequence<String>) {
    var result: Permissions = []
    for name in names {
      guard let entry = Self.named.first(where: { $0.name == name }) else { return nil }
      result.insert(entry.permission)
    }
    self = result
  }
}

/// As their names.
extension Permissions: Codable {
  public init(from decoder: any Decoder) throws {
    guard let permissions = Permissions(names: try [String](from: decoder)) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "an unknown permission"))
    }
    self = permissions
  }

  public func encode(to encoder: any Encoder) throws { try names.encode(to: encoder) }
}
