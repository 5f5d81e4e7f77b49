/// A configuration value with its own text form, which is the same in the file and on the command line.
public protocol ConfigurationText: LosslessStringConvertible, Hashable, Sendable {
  /// The allowed forms, for an error message.
  static var allowed: String { get }
}

/// A camera: `cameras[].device`, `--camera`.
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

/// A microphone: `microphone.device`, `--microphone`.
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
    // Means empty in YAML, so most likely intended as none. For a microphone, endless silence would be useless.
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

/// A speaker: `speaker.device`, `--speaker`.
public enum SpeakerDevice: ConfigurationText {
  /// The first speaker that works.
  case auto
  /// There is no speaker: talk and lullabies are refused.
  case none
  /// Sound is played in real time and discarded.
  case null
  /// An ALSA PCM name.
  case pcm(String)
  /// A WAV file to write.
  case file(String)

  public static let allowed = "auto, none, null, an ALSA PCM name such as plughw:1, or file:/path/out.wav"

  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "none": self = .none
    case "null": self = .null
    // Valid for cameras and microphones, but not for speakers.
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

/// A light: `lights[].device`, `--light`.
public enum LightDevice: ConfigurationText {
  case none
  /// Exists only in memory.
  case simulated
  /// A line of a GPIO chip by its number or its name: `gpio:/dev/gpiochip0/17`, `gpio:/dev/gpiochip0/GPIO17`. With the
  /// suffix `:active-low`, the lamp is on while the line is low.
  case gpio(chip: String, line: GPIOLine, isActiveLow: Bool)
  /// A directory below /sys/class/leds.
  case led(path: String)

  public static let allowed =
    "none, simulated, gpio:/dev/gpiochip0/17 (or the line's name; with :active-low behind it if the lamp shines while "
    + "the line is low), or led:/sys/class/leds/NAME"
  private static let activeLow = ":active-low"

  public init?(_ text: String) {
    switch text {
    case "none": self = .none
    case "simulated": self = .simulated
    default:
      if let place = text.after(prefix: "gpio:"), let slash = place.lastIndex(of: "/") {
        let chip = String(place[..<slash])
        let isActiveLow = place.hasSuffix(Self.activeLow)
        let end = isActiveLow ? place.index(place.endIndex, offsetBy: -Self.activeLow.count) : place.endIndex
        guard chip.hasPrefix("/"), chip.dropFirst().contains("/"), chip.isPlainPath, slash < end,
          let line = GPIOLine(String(place[place.index(after: slash)..<end]))
        else { return nil }
        self = .gpio(chip: chip, line: line, isActiveLow: isActiveLow)
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
    case .gpio(let chip, let line, let isActiveLow):
      "gpio:\(chip)/\(line)" + (isActiveLow ? Self.activeLow : "")
    case .led(let path): "led:\(path)"
    }
  }
}

/// A line of a GPIO chip.
public enum GPIOLine: LosslessStringConvertible, Hashable, Sendable {
  case offset(UInt32)
  /// From the board's device tree: does not begin with a digit, at most 31 bytes (GPIO_MAX_NAME_SIZE in linux/gpio.h).
  case name(String)

  public init?(_ text: String) {
    guard let first = text.unicodeScalars.first, first.isASCII else { return nil }
    if first.properties.numericType != nil {
      guard let offset = UInt32(text) else { return nil }
      self = .offset(offset)
    } else {
      let isName =
        (first.properties.isAlphabetic || first == "_") && text.utf8.count <= 31
        && text.unicodeScalars.allSatisfy { $0.isPrintable && $0 != ":" && $0 != "/" }
      guard isName else { return nil }
      self = .name(text)
    }
  }

  public var description: String {
    switch self {
    case .offset(let offset): "\(offset)"
    case .name(let name): name
    }
  }
}

extension String {
  func after(prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }

  /// Whether it can be a path: not empty, all printable. PATH_MAX is 4096.
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
