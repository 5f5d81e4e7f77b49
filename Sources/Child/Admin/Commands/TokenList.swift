public import Control
public import FoundationEssentials

/// `cradle-child token list`
public struct TokenList: DaemonCommand {
  public typealias Reply = [TokenRow]

  public static let name = "token.list"

  public init() {}
}

/// One row of `token list`.
public struct TokenRow: ListedDocument {
  public static let listMember = "tokens"

  public var name: String
  public var allow: [String]
  public var createdAt: Date
  /// Nil: never.
  public var lastUsedAt: Date?
  /// Nil: never.
  public var expiresAt: Date?
  /// It has expired; nothing can use it any more.
  public var isExpired: Bool
  /// RTSP players may use it; nil: not, or the daemon is of an earlier version.
  public var rtsp: Bool?
}
