/// What a pair record or token allows. Checked for every track and every message.
public struct Permissions: OptionSet, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The picture.
  public static let view = Permissions(rawValue: 1)
  /// The room's sound.
  public static let listen = Permissions(rawValue: 2)
  /// The child's speaker as a mouthpiece.
  public static let talk = Permissions(rawValue: 4)
  /// Light, lullabies, camera choice.
  public static let control = Permissions(rawValue: 8)
  /// Pairing and revoking.
  public static let admin = Permissions(rawValue: 16)
  public static let all: Permissions = [.view, .listen, .talk, .control, .admin]

  private static let words: [(name: String, permission: Permissions)] = [
    ("view", .view), ("listen", .listen), ("talk", .talk), ("control", .control), ("admin", .admin),
  ]

  /// From one word as in `--allow` and in pair records; nil for any other.
  public init?(name: String) {
    guard let found = Self.words.first(where: { $0.name == name }) else { return nil }
    self = found.permission
  }

  /// The words, in their usual order.
  public var names: [String] { Self.words.filter { contains($0.permission) }.map(\.name) }
}

/// What the shell found about the credentials of a request.
public enum Authorization: Hashable, Sendable {
  /// None were sent.
  case none
  /// They are wrong, revoked or expired.
  case invalid
  case granted(Permissions)
}
