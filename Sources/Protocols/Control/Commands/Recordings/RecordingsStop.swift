/// Ends the recording, however it began.
public struct RecordingsStop: ControlCommand {
  public static let name = "recordings.stop"
  public static let requirement: Requirement = .recordings
  public static let device: ControlDevice? = .recorder
  public init() {}
}
