internal import Pairing

/// Begins a sound check, which makes a sound in the room. `busy` while one runs.
public struct HearingTestStart: ControlCommand {
  public typealias Reply = HearingDocument
  public static let name = "hearing.test"
  public static let requirement: Requirement = .all([.listen, .control])
  public init() {}
}
