/// Records until `recordings.stop`.
public struct RecordingsStart: ControlCommand {
  public static let name = "recordings.start"
  public static let requirement: Requirement = .recordings
  public static let device: ControlDevice? = .recorder
  public init() {}
}
