internal import Control

/// `cradle-child status`
public struct StatusShow: DaemonCommand {
  public typealias Reply = StatusReport

  public static let name = "status"

  public init() {}
}
