/// A camera: `cameras[].device`, `--camera`.
public enum VideoDevice: ConfigurationText {
  /// The first camera that works.
  case auto
  /// The moving test picture.
  case test
  /// A V4L2 device node, such as `/dev/v4l/by-id/…`.
  case camera(path: String)
  /// A Y4M or MJPEG file, played in a loop.
  case file(path: String)

  public static let allowed = "auto, test, a device such as /dev/video0, or file:/path/clip.y4m"

  public init?(_ text: String) {
    switch text {
    case "auto": self = .auto
    case "test": self = .test
    default:
      if let path = text.filePath {
        self = .file(path: path)
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
    case .file(let path): "file:\(path)"
    }
  }
}
