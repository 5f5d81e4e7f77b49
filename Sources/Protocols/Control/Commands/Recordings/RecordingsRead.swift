/// A piece of a part: a transfer of at most `ControlLimits.recordingPieceBytes`.
public struct RecordingsRead: ControlCommand {
  public typealias Reply = TransferDocument
  public static let name = "recordings.read"
  public static let requirement: Requirement = .recordings
  public static let device: ControlDevice? = .recorder
  public static let parameters: [ControlParameter] = [
    .text("id", missing: "is missing"), .whole("offset", in: ControlLimits.recordingOffset),
  ]

  public var id: String
  /// From this byte on; nil: from the first.
  public var offset: Int?

  public init(id: String, offset: Int? = nil) {
    self.id = id
    self.offset = offset
  }
}
