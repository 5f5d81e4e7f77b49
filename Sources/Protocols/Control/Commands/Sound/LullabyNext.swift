/// Plays the next track.
public struct LullabyNext: ControlCommand {
  public typealias Reply = LullabyDocument
  public static let name = "lullaby.next"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .speaker
  public init() {}
}
