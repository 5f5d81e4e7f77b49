/// A camera: `cameras[].device`, `--camera`.
public enum VideoDevice: ConfigurationText {
  /// The first camera that works.
  case auto
  /// The moving test picture.
  case test
  /// A V4L2 device node, such as `/dev/v4l/by-id/…`.
  case camera(path: String)
  /// A camera on a Raspberry Pi's ribbon cable, by the number that `rpicam-hello --list-cameras` gives it: `rpicam:0`.
  case raspberryPi(number: Int)
  /// `exec:` and a command: a program that writes Y4M to its standard output.
  case program(ProgramCommand)
  /// A Y4M or MJPEG file, played in a loop.
  case file(path: String)

  public static let allowed =
    "auto, test, a device such as /dev/video0, rpicam:0, file:/path/clip.y4m, or \"exec:COMMAND\" for a program that "
    + "writes Y4M"
  /// A Raspberry Pi 5 has two connectors; a multiplexer board adds some.
  private static let raspberryPiNumbers = 0...7

  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "test": self = .test
    default:
      if let path = text.filePath {
        self = .file(path: path)
      } else if let digits = text.after(prefix: "rpicam:") {
        guard digits.utf8.count == 1, let number = Int(digits), Self.raspberryPiNumbers.contains(number) else {
          return nil
        }
        self = .raspberryPi(number: number)
      } else if let command = text.after(prefix: "exec:") {
        guard let command = ProgramCommand(command) else { return nil }
        self = .program(command)
      } else if text.hasPrefix("/"), text.isPlainPath {
        self = .camera(path: text)
      } else {
        return nil
      }
    }
  }

  public var description: String {
    switch self {
    case .auto: "auto"
    case .test: "test"
    case .camera(let path): path
    case .raspberryPi(let number): "rpicam:\(number)"
    case .program(let command): "exec:\(command)"
    case .file(let path): "file:\(path)"
    }
  }
}
