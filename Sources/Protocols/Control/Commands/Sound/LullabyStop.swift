/// Stops the lullaby.
public struct LullabyStop: ControlCommand {
  public typealias Reply = LullabyDocument
  public static let name = "lullaby.stop"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .speaker
  public init() {}
}
