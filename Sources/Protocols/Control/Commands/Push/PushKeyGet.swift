/// What a browser needs to subscribe to pushed alarms.
public struct PushKeyGet: ControlCommand {
  public typealias Reply = PushKeyDocument
  public static let name = "push.key"
  public static let requirement: Requirement = .watching
  public init() {}
}
