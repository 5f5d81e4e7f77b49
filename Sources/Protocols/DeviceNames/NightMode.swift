/// `cameras[].night`: when a camera's lamp, its slow shutter and the encoder's noise filter are on.
public enum NightMode: String, ConfigurationText, CaseIterable {
  /// By the brightness of the picture.
  case auto
  case on
  case off

  public static var allowed: String { "auto, on or off" }

  public init?(_ text: String) { self.init(rawValue: text) }

  public var description: String { rawValue }
}
