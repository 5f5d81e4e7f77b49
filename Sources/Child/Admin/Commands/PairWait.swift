public import Control

/// `cradle-child pair`: answers when the window closes.
public struct PairWait: DaemonCommand {
  public typealias Reply = PairingEnded

  public static let name = "pair.wait"

  public init() {}
}

/// `pair --json`, when the window closes.
public struct PairingEnded: ControlReply {
  public var paired: Parent?
  /// Why nobody has paired.
  public var reason: String?

  public struct Parent: Codable, Hashable, Sendable {
    public var id: String
    public var name: String
    /// The parent shows the same words.
    public var words: String
  }
}
