internal import Control

/// `cradle-child away`: what the daemon knows of it.
public struct AwayShow: DaemonCommand {
  public typealias Reply = AwayReport

  public static let name = "away"
}
