/// Resumes a paused lullaby.
public struct LullabyResume: ControlCommand {
  public typealias Reply = LullabyDocument
  public static let name = "lullaby.resume"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .speaker
  public init() {}
}
