/// Opens the pairing window. It closes when the caller's pair is removed, expires or loses `admin`.
public struct PairingOpen: ControlCommand {
  public typealias Reply = PairingDocument
  public static let name = "pairing.open"
  public static let requirement: Requirement = .admin
  public static let parameters: [ControlParameter] = [.flag("admin")]

  /// The new parent may administer the child, too.
  public var admin: Bool?

  public init(admin: Bool? = nil) {
    self.admin = admin
  }
}
