/// The complete state of the child.
public struct StatusGet: ControlCommand {
  public typealias Reply = StatusDocument
  public static let name = "status.get"
  public static let requirement: Requirement = .state
  public init() {}
}
