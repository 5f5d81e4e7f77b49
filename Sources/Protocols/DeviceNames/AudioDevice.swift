internal import Wire

/// A microphone: `microphone.device`, `--microphone`.
public enum AudioDevice: ConfigurationText {
  /// The first microphone that works.
  case auto
  /// `none`: there is no microphone.
  case off
  /// The test tone.
  case test
  /// An ALSA PCM name, such as `plughw:CARD=Device`.
  case pcm(name: String)
  /// A WAV file, played in a loop.
  case file(path: String)

  public static let allowed = "auto, none, test, an ALSA PCM name such as plughw:1, or file:/path/clip.wav"

  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "none": self = .off
    case "test": self = .test
    // Means empty in YAML, so most likely intended as none. For a microphone, endless silence would be useless.
    case "null": return nil
    default:
      guard text.filePath != nil || text.isPCMName else { return nil }
      self = text.filePath.map { .file(path: $0) } ?? .pcm(name: text)
    }
  }

  public var description: String {
    switch self {
    case .auto: "auto"
    case .off: "none"
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
  /// `none`: there is no speaker; talk and lullabies are refused.
  case off
  /// Sound is played in real time and discarded.
  case null
  /// An ALSA PCM name.
  case pcm(name: String)
  /// A WAV file to write.
  case file(path: String)

  public static let allowed = "auto, none, null, an ALSA PCM name such as plughw:1, or file:/path/out.wav"

  /// What it plays is heard in a room.
  public var isHeard: Bool {
    switch self {
    case .auto, .pcm: true
    case .off, .null, .file: false
    }
  }

  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "none": self = .off
    case "null": self = .null
    // Valid for cameras and microphones, but not for speakers.
    case "test": return nil
    default:
      guard text.filePath != nil || text.isPCMName else { return nil }
      self = text.filePath.map { .file(path: $0) } ?? .pcm(name: text)
    }
  }

  public var description: String {
    switch self {
    case .auto: "auto"
    case .off: "none"
    case .null: "null"
    case .pcm(let name): name
    case .file(let path): "file:\(path)"
    }
  }
}

extension String {
  fileprivate var isPCMName: Bool {
    (1...256).contains(utf8.count) && !hasPrefix("/") && !hasPrefix("file:")
      && unicodeScalars.allSatisfy { $0.isPrintable && $0 != " " } && self != "~"
  }
}
