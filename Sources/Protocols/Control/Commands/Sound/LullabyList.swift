/// What can be played.
public struct LullabyList: ControlCommand {
  public typealias Reply = [TrackDocument]
  public static let name = "lullaby.list"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .speaker
  public init() {}
}
