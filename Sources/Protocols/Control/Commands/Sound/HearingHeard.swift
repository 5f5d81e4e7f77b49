internal import Pairing

/// What the caller has heard of a sound check: the chirp, or the noise floor of the room.
public struct HearingHeard: ControlCommand {
  public static let name = "hearing.heard"
  public static let requirement: Requirement = .all(.listen)
  public static let parameters: [ControlParameter] = [
    .whole("number", in: ControlLimits.hearingNumber, missing: "is missing; it is that of the test"),
    .number("share", in: ControlLimits.hearingShare), .number("levelDb", in: ControlLimits.noiseDb),
  ]

  /// That of the `HearingDocument`.
  public var number: Int
  /// Of the chirp in the sound of its band, 0...1.
  public var share: Double?
  /// RMS of the noise floor, dB relative to full scale.
  public var levelDb: Double?

  public init(number: Int, share: Double? = nil, levelDb: Double? = nil) {
    self.number = number
    self.share = share
    self.levelDb = levelDb
  }

  public func validate() throws(ControlError) {
    guard (share == nil) != (levelDb == nil) else {
      throw .badParameter("share", "or \"levelDb\" is given, not both")
    }
  }
}
