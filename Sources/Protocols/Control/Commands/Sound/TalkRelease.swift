internal import Pairing

/// Gives the floor back.
public struct TalkRelease: ControlCommand {
  public typealias Reply = TalkDocument
  public static let name = "talk.release"
  public static let requirement: Requirement = .all(.talk)
  public static let device: ControlDevice? = .speaker
  public init() {}
}
