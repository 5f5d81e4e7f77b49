public import Control
public import FoundationEssentials

/// `cradle-child pairs`
public struct PairsShow: DaemonCommand {
  public typealias Reply = PairList

  public static let name = "pairs"

  public init() {}
}

/// `pairs --json`.
public struct PairList: ControlReply {
  public var pairs: [Row]
  /// Whether somebody has `admin` and uses it; nil from a daemon of an earlier version.
  public var hasOwner: Bool?

  public struct Row: Codable, Hashable, Sendable {
    public var id: String
    public var name: String
    public var permissions: [String]
    public var createdAt: Date
    public var lastSeenAt: Date?
    public var expiresAt: Date?
    /// The parent has confirmed the check words, or has been seen since; nil from a daemon of an earlier version.
    public var isCompleted: Bool?
  }
}
