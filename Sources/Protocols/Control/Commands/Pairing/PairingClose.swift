/// Closes the pairing window.
public struct PairingClose: ControlCommand {
  public static let name = "pairing.close"
  public static let requirement: Requirement = .admin
  public init() {}
}
