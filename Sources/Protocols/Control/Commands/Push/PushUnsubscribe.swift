/// Ends the subscription of the caller's pair.
public struct PushUnsubscribe: ControlCommand {
  public static let name = "push.unsubscribe"
  public static let requirement: Requirement = .session
  public init() {}
}
