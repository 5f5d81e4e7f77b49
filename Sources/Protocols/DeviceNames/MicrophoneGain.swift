/// How much louder a microphone is made: `microphone.gain`.
public enum MicrophoneGain: ConfigurationText {
  /// dB, -20...60.
  case fixed(decibels: Int)
  /// `auto`: by what is heard.
  case automatic

  /// As it is.
  public static let none = MicrophoneGain.fixed(decibels: 0)

  public static let allowed = "auto, or whole dB from -20 to 60"

  public init?(_ text: String) {
    if text == "auto" {
      self = .automatic
    } else if let decibels = Int(text), -20...60 ~= decibels {
      self = .fixed(decibels: decibels)
    } else {
      return nil
    }
  }

  public var description: String {
    switch self {
    case .fixed(let decibels): "\(decibels)"
    case .automatic: "auto"
    }
  }
}
