public import Control
public import FoundationEssentials

/// `cradle-child invites`
public struct InvitesShow: DaemonCommand {
  public typealias Reply = InviteList

  public static let name = "invites"

  public init() {}
}

/// `invites --json`: everything that currently lets a parent pair.
public struct InviteList: ControlReply {
  public var invites: [Row]

  public struct Row: Codable, Hashable, Sendable {
    /// The id of the pairing window, which has a row like an invitation while it is open.
    public static let windowID = "window"

    /// 8 hexadecimal digits, or `windowID`.
    public var id: String
    /// The guest's name; nil: the guest chooses it.
    public var name: String?
    public var allow: [String]
    /// The id of the parent that issued it; nil: the administrator of this machine.
    public var issuer: String?
    /// That parent's name.
    public var issuerName: String?
    /// When the link or code expires.
    public var expiresAt: Date
    /// When the access it grants ends; nil: never.
    public var accessExpiresAt: Date?
  }
}
