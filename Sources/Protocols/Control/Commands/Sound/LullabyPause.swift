/// Pauses the lullaby.
public struct LullabyPause: ControlCommand {
  public typealias Reply = LullabyDocument
  public static let name = "lullaby.pause"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .speaker
  public init() {}
}
