/// What `cameras: - device:` names.
public enum VideoDevice: Hashable, Sendable, CustomStringConvertible {
  /// The first camera that works.
  case auto
  /// The moving picture that the program makes.
  case test
  /// A V4L2 device node or a link to one, for example /dev/v4l/by-id/….
  case camera(path: String)
  /// A Y4M file, played over and over.
  case file(path: String)

  /// The configuration's spelling: `auto`, `test`, a path that begins with `/`, or `file:` and a path. Nil for anything else.
  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "test": self = .test
    case _ where text.hasPrefix("file:") && text.utf8.count > 5: self = .file(path: String(text.dropFirst(5)))
    case _ where text.hasPrefix("/"): self = .camera(path: text)
    default: return nil
    }
  }

  public var description: String {
    switch self {
    case .auto: "auto"
    case .test: "test"
    case .camera(let path): path
    case .file(let path): "file:\(path)"
    }
  }
}

/// What `microphone: device:` names.
public enum AudioDevice: Hashable, Sendable, CustomStringConvertible {
  /// The system's default, else the first card that records.
  case auto
  /// No microphone is wanted.
  case off
  /// The tone that the program makes.
  case test
  /// An ALSA PCM name, for example `hw:1,0` or `plughw:CARD=Webcam`.
  case pcm(name: String)
  /// A WAV file, played over and over.
  case file(path: String)

  /// The configuration's spelling: `auto`, `none`, `test`, `file:` and a path; anything else is an ALSA name. Nil for nothing.
  public init?(_ text: String) {
    switch text {
    case "", "file:": return nil
    case "auto": self = .auto
    case "none": self = .off
    case "test": self = .test
    case _ where text.hasPrefix("file:"): self = .file(path: String(text.dropFirst(5)))
    default: self = .pcm(name: text)
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

/// What `speaker: device:` names.
public enum SpeakerDevice: Hashable, Sendable, CustomStringConvertible {
  /// The system's default, else the first card that plays.
  case auto
  /// No speaker is wanted.
  case off
  /// Played in real time and thrown away.
  case null
  /// An ALSA PCM name, for example `hw:1,0` or `plughw:CARD=Headset`.
  case pcm(name: String)
  /// A WAV file that is written, from its beginning.
  case file(path: String)

  /// The configuration's spelling: `auto`, `none`, `null`, `file:` and a path; anything else is an ALSA name. Nil for nothing.
  public init?(_ text: String) {
    switch text {
    case "", "file:": return nil
    case "auto": self = .auto
    case "none": self = .off
    case "null": self = .null
    case _ where text.hasPrefix("file:"): self = .file(path: String(text.dropFirst(5)))
    default: self = .pcm(name: text)
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
