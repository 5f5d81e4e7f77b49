/// Sets the volume of lullabies.
public struct LullabyVolume: ControlCommand {
  public typealias Reply = LullabyDocument
  public static let name = "lullaby.volume"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .speaker
  public static let parameters: [ControlParameter] = [
    .whole("volume", in: ControlLimits.volume, missing: "is missing")
  ]

  /// Percent.
  public var volume: Int

  public init(_ volume: Int) {
    self.volume = volume
  }
}
