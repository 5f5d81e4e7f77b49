/// The value of `cameras: - device:`.
public enum VideoDevice: Hashable, Sendable, CustomStringConvertible {
  /// The first camera that works.
  case auto
  /// The built-in moving test picture.
  case test
  /// A V4L2 device node or a link to one, for example /dev/v4l/by-id/….
  case camera(path: String)
  /// A Y4M file, played in a loop.
  case file(path: String)

  /// The configuration's spelling: `auto`, `test`, a path starting with `/`, or `file:` and a path; else nil.
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

/// The value of `microphone: device:`.
public enum AudioDevice: Hashable, Sendable, CustomStringConvertible {
  /// The system's default, else the first card that can record.
  case auto
  /// No microphone.
  case off
  /// The built-in test tone.
  case test
  /// An ALSA PCM name, for example `hw:1,0` or `plughw:CARD=Webcam`.
  case pcm(name: String)
  /// A WAV file, played in a loop.
  case file(path: String)

  /// The configuration's spelling: `auto`, `none`, `test`, `file:` and a path; else an ALSA name. Nil if empty.
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

/// The value of `speaker: device:`.
public enum SpeakerDevice: Hashable, Sendable, CustomStringConvertible {
  /// The system's default, else the first card that can play.
  case auto
  /// No speaker.
  case off
  /// Played in real time and discarded.
  case null
  /// An ALSA PCM name, for example `hw:1,0` or `plughw:CARD=Headset`.
  case pcm(name: String)
  /// A WAV file that is overwritten.
  case file(path: String)

  /// The configuration's spelling: `auto`, `none`, `null`, `file:` and a path; else an ALSA name. Nil if empty.
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
