/// A configuration value with a text form of its own, the same in the file and on the command line.
public protocol ConfigurationText: LosslessStringConvertible, Hashable, Sendable {
  /// What may be written, for an error message.
  static var allowed: String { get }
}

/// Where the picture comes from: `cameras[].device`, `--camera`.
public enum VideoDevice: ConfigurationText {
  /// The first camera that works.
  case auto
  /// The moving test picture.
  case test
  /// A V4L2 device node, such as `/dev/v4l/by-id/…`.
  case path(String)
  /// A Y4M or MJPEG file, played in a loop.
  case file(String)

  public static let allowed = "auto, test, a device such as /dev/video0, or file:/path/clip.y4m"

  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "test": self = .test
    default:
      if let path = text.filePath {
        self = .file(path)
      } else if text.hasPrefix("/"), text.isPlainPath {
        self = .path(text)
      } else {
        return nil
      }
    }
  }

  public var description: String {
    switch self {
    case .auto: "auto"
    case .test: "test"
    case .path(let path): path
    case .file(let path): "file:\(path)"
    }
  }
}

/// Where the sound comes from: `microphone.device`, `--microphone`.
public enum AudioDevice: ConfigurationText {
  /// The first microphone that works.
  case auto
  case none
  /// The test tone.
  case test
  /// An ALSA PCM name, such as `plughw:CARD=Device`.
  case pcm(String)
  /// A WAV file, played in a loop.
  case file(String)

  public static let allowed = "auto, none, test, an ALSA PCM name such as plughw:1, or file:/path/clip.wav"

  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "none": self = .none
    case "test": self = .test
    // Empty in YAML, and most likely meant as none; an endless silence is no microphone.
    case "null": return nil
    default:
      if let path = text.filePath {
        self = .file(path)
      } else if text.isPCMName {
        self = .pcm(text)
      } else {
        return nil
      }
    }
  }

  public var description: String {
    switch self {
    case .auto: "auto"
    case .none: "none"
    case .test: "test"
    case .pcm(let name): name
    case .file(let path): "file:\(path)"
    }
  }
}

/// Where lullabies and talk go: `speaker.device`, `--speaker`.
public enum SpeakerDevice: ConfigurationText {
  /// The first speaker that works.
  case auto
  /// There is no speaker: talk and lullabies are refused.
  case none
  /// Played and thrown away, in real time.
  case null
  /// An ALSA PCM name.
  case pcm(String)
  /// A WAV file that is written.
  case file(String)

  public static let allowed = "auto, none, null, an ALSA PCM name such as plughw:1, or file:/path/out.wav"

  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "none": self = .none
    case "null": self = .null
    // Means something for cameras and microphones; here it could only be a mistake.
    case "test": return nil
    default:
      if let path = text.filePath {
        self = .file(path)
      } else if text.isPCMName {
        self = .pcm(text)
      } else {
        return nil
      }
    }
  }

  public var description: String {
    switch self {
    case .auto: "auto"
    case .none: "none"
    case .null: "null"
    case .pcm(let name): name
    case .file(let path): "file:\(path)"
    }
  }
}

/// What shines: `lights[].device`, `--light`.
public enum LightDevice: ConfigurationText {
  case none
  /// Kept in memory only.
  case simulated
  /// A line of a GPIO chip: `gpio:/dev/gpiochip0/17`.
  case gpio(chip: String, line: UInt32)
  /// A directory below /sys/class/leds.
  case led(path: String)

  public static let allowed = "none, simulated, gpio:/dev/gpiochip0/17, or led:/sys/class/leds/NAME"

  public init?(_ text: String) {
    switch text {
    case "none": self = .none
    case "simulated": self = .simulated
    default:
      if let place = text.after(prefix: "gpio:"), let slash = place.lastIndex(of: "/") {
        let chip = String(place[..<slash])
        let digits = place[place.index(after: slash)...]
        guard chip.hasPrefix("/"), chip.isPlainPath, digits.first != "+", let line = UInt32(digits) else { return nil }
        self = .gpio(chip: chip, line: line)
      } else if let path = text.after(prefix: "led:"), path.hasPrefix("/"), path.isPlainPath {
        self = .led(path: path)
      } else {
        return nil
      }
    }
  }

  public var description: String {
    switch self {
    case .none: "none"
    case .simulated: "simulated"
    case .gpio(let chip, let line): "gpio:\(chip)/\(line)"
    case .led(let path): "led:\(path)"
    }
  }
}

extension String {
  func after(prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }

  /// Could be a path: something, and nothing unprintable. PATH_MAX is 4096.
  var isPlainPath: Bool {
    (1..<4096).contains(utf8.count) && unicodeScalars.allSatisfy(\.isPrintable)
  }

  fileprivate var filePath: String? {
    after(prefix: "file:").flatMap { $0.isPlainPath ? $0 : nil }
  }

  fileprivate var isPCMName: Bool {
    (1...256).contains(utf8.count) && !hasPrefix("/") && !hasPrefix("file:")
      && unicodeScalars.allSatisfy { $0.isPrintable && $0 != " " } && self != "~"
  }
}
