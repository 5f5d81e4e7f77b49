/// A camera: `cameras[].device`, `--camera`. Its kinds are in one table, `Kind.traits`; `VideoSources` opens each.
public struct VideoDevice: ConfigurationText {
  public let kind: Kind
  /// What follows the kind's prefix. May hold credentials; `description` is for people.
  public let argument: String
  public let description: String

  public static let auto = VideoDevice(kind: .auto)
  public static let test = VideoDevice(kind: .test)

  public enum Kind: CaseIterable, Sendable {
    /// The first camera that works.
    case auto
    /// The moving test picture.
    case test
    /// A V4L2 device node, such as `/dev/v4l/by-id/…`.
    case v4l2
    /// A camera on a Raspberry Pi's ribbon cable, by the number that `rpicam-hello --list-cameras` gives it. A Raspberry Pi 5
    /// has two connectors; a multiplexer board adds some.
    case raspberryPi
    /// A Y4M file, played in a loop.
    case file
    /// A program that writes Y4M to its standard output.
    case program

    /// The one table of the kinds, in the order of messages.
    public var traits: Traits {
      switch self {
      case .auto: Traits("auto", isSensor: true, hasControls: true, nodes: ["/dev/video*"])
      case .test: Traits("test")
      case .v4l2: Traits("/", .path, "a device such as /dev/video0", isSensor: true, hasControls: true, nodes: ["/"])
      case .raspberryPi:
        Traits("rpicam:", .digit(0...7), "rpicam:0", isSensor: true, nodes: ["/dev/media*", "/dev/dma_heap/*"])
      case .file: Traits("file:", .path, "file:/path/clip.y4m")
      case .program: Traits("exec:", .command, "\"exec:COMMAND\" for a program that writes Y4M")
      }
    }
  }

  /// What has to be known of a kind before it is opened.
  public struct Traits: Sendable {
    /// How its names begin, or the whole name.
    public let prefix: String
    let argument: Argument
    /// For error messages.
    let form: String
    /// A picture that repeats itself is a fault. Files and programs may show what they like.
    public let isSensor: Bool
    /// It has V4L2 controls.
    public let hasControls: Bool
    /// Device files that it opens: `*` at the end stands for any others, the prefix alone for the whole name. A program of the
    /// family's own knows itself what it opens.
    let nodes: [String]

    init(
      _ prefix: String, _ argument: Argument = .none, _ form: String? = nil, isSensor: Bool = false,
      hasControls: Bool = false, nodes: [String] = []
    ) {
      self.prefix = prefix
      self.argument = argument
      self.form = form ?? prefix
      self.isSensor = isSensor
      self.hasControls = hasControls
      self.nodes = nodes
    }
  }

  enum Argument: Sendable {
    case none, path, command
    case digit(ClosedRange<Int>)

    /// As it is shown; nil if it cannot be one.
    func shown(_ text: String) -> String? {
      switch self {
      case .none: text.isEmpty ? text : nil
      case .path: text.isPlainPath ? text : nil
      case .command: ProgramCommand(text)?.description
      case .digit(let range):
        text.utf8.count == 1 && Int(text).map(range.contains) == true ? text : nil
      }
    }
  }

  private init(kind: Kind) {
    (self.kind, argument, description) = (kind, "", kind.traits.prefix)
  }

  public init?(_ text: String) {
    for kind in Kind.allCases {
      let traits = kind.traits
      guard let argument = text.after(prefix: traits.prefix), let shown = traits.argument.shown(argument) else {
        continue
      }
      (self.kind, self.argument, description) = (kind, argument, traits.prefix + shown)
      return
    }
    return nil
  }

  public static var allowed: String {
    let forms = Kind.allCases.map(\.traits.form)
    return forms.dropLast().joined(separator: ", ") + ", or " + forms[forms.count - 1]
  }

  /// Paths of the device files that it opens; `*` at the end of one stands for any others.
  public var nodes: [String] {
    kind.traits.nodes.map { $0 == kind.traits.prefix ? description : $0 }
  }
}
