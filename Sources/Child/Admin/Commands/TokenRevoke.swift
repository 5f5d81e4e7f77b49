public import Control

/// `cradle-child token revoke`
public struct TokenRevoke: DaemonCommand {
  public struct Reply: ControlReply {
    /// The token's name.
    public var revoked: String
  }

  public static let name = "token.revoke"
  public static let parameters: [ControlParameter] = [.text("name", bytes: anyText, missing: "is missing")]

  public var name: String

  public init(name: String) {
    self.name = name
  }
}
