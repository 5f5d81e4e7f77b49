public import Control

/// `cradle-child invites revoke`: the invitations that were ended.
public struct InviteRevoke: DaemonCommand {
  public typealias Reply = InviteList

  public static let name = "invite.revoke"
  public static let parameters: [ControlParameter] = [.text("id", bytes: anyText)]

  /// Nil: all.
  public var id: String?

  public init(_ id: String?) {
    self.id = id
  }
}
