/// What the child has recorded, the newest last.
public struct RecordingsList: ControlCommand {
  public typealias Reply = RecordingsDocument
  public static let name = "recordings.list"
  public static let requirement: Requirement = .recordings
  public static let device: ControlDevice? = .recorder
  public static let parameters: [ControlParameter] = [
    .number("from", in: ControlLimits.unixSeconds), .number("to", in: ControlLimits.unixSeconds),
  ]

  /// Seconds since 1970-01-01 UTC; nil: no limit.
  public var from: Double?
  public var to: Double?

  public init(from: Double? = nil, to: Double? = nil) {
    self.from = from
    self.to = to
  }
}
