/// Flashes a light.
public struct LightFlash: ControlCommand {
  public typealias Reply = LightDocument
  public static let name = "light.flash"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .light
  public static let parameters: [ControlParameter] = [
    .text("id"), .whole("times", in: ControlLimits.flashTimes),
    .whole("milliseconds", in: ControlLimits.flashMilliseconds),
  ]

  /// Nil: the first light.
  public var id: String?
  public var times: Int?
  /// Length of a flash, and of the pause after it.
  public var milliseconds: Int?

  public init(id: String? = nil, times: Int? = nil, milliseconds: Int? = nil) {
    self.id = id
    self.times = times
    self.milliseconds = milliseconds
  }
}
