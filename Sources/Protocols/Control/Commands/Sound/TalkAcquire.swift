internal import Pairing

/// Takes the floor.
public struct TalkAcquire: ControlCommand {
  public typealias Reply = TalkDocument
  public static let name = "talk.acquire"
  public static let requirement: Requirement = .all(.talk)
  public static let device: ControlDevice? = .speaker
  public static let parameters: [ControlParameter] = [.flag("force")]

  /// From somebody else who talks; needs `admin`, too.
  public var force: Bool?

  public init(force: Bool? = nil) {
    self.force = force
  }

  public var requirement: Requirement { force == true ? .all([.talk, .admin]) : Self.requirement }
}
