/// Pushes a message to the caller's browser. `busy` while one is under way, `unavailable` without a subscription.
public struct PushTest: ControlCommand {
  public typealias Reply = PushTestDocument
  public static let name = "push.test"
  public static let requirement: Requirement = .watching
  public init() {}
}
