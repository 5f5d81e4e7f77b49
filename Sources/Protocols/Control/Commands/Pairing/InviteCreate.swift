public import Pairing

/// Makes a link for a guest. It ends under the same conditions as the pairing window.
public struct InviteCreate: ControlCommand {
  public typealias Reply = InviteDocument
  public static let name = "invite.create"
  public static let requirement: Requirement = .admin
  public static let parameters: [ControlParameter] = [
    .text("name"), .whole("seconds", in: ControlLimits.inviteSeconds),
    .list("allow", of: Permissions.allowedForTokens.names, most: Permissions.allNames.count),
  ]

  public var name: String?
  /// How long the guest has access.
  public var seconds: Int?
  /// Never `admin`; nil: `view` and `listen`.
  public var allow: Permissions?

  public init(name: String? = nil, seconds: Int? = nil, allow: Permissions? = nil) {
    self.name = name
    self.seconds = seconds
    self.allow = allow
  }
}
