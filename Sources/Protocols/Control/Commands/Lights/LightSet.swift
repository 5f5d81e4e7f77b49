/// Switches a light.
public struct LightSet: ControlCommand {
  public typealias Reply = LightDocument

  public enum Switch: String, CaseIterable, Codable, Sendable {
    case on, off, toggle
  }

  public static let name = "light.set"
  public static let requirement: Requirement = .control
  public static let device: ControlDevice? = .light
  public static let parameters: [ControlParameter] = [
    .word("state", of: Switch.self, missing: "is missing; it is on, off or toggle"), .text("id"),
    .whole("brightness", in: ControlLimits.brightness), .whole("seconds", in: ControlLimits.lightSeconds),
  ]

  /// Nil: the first light.
  public var id: String?
  public var state: Switch
  /// Percent; nil keeps the previous brightness, which is `ControlDefaults.brightness` at first; 0 is off. Not with `off`.
  public var brightness: Int?
  /// Seconds until it goes out by itself; nil: stays on, or, with a brightness for a light that is on, as long as it would
  /// have. Not with `off`.
  public var seconds: Int?

  public init(id: String? = nil, state: Switch, brightness: Int? = nil, seconds: Int? = nil) {
    self.id = id
    self.state = state
    self.brightness = brightness
    self.seconds = seconds
  }

  public func validate() throws(ControlError) {
    guard state == .off else { return }
    if brightness != nil { throw .badParameter("brightness", "cannot be given with off") }
    if seconds != nil { throw .badParameter("seconds", "cannot be given with off") }
  }
}
