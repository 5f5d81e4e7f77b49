/// Ends an alarm drill before its time. A drill keeps the family from hearing its baby: whoever is paired may end it.
public struct DrillStop: ControlCommand {
  public static let name = "drill.stop"
  public static let requirement: Requirement = .session
  public init() {}
}
