import Foundation

/// What a viewer script prints; units are in the names.
struct ViewerResult: Decodable {
  struct Audio: Decodable {
    var packets: Int
    var toneHz: Double?
    var toneDbfs: Double?
  }

  struct Channel: Decodable {
    struct Hello: Decodable {}
    var opened: Bool
    var hello: Hello?
    var pingMs: Double?
    var heartbeats: Int
    /// The reason that the child gave for leaving.
    var goodbye: String?
  }

  struct Latency: Decodable {
    var p50: Double?
    var count: Int
  }

  /// What came in one size, from the time of its first picture on, in seconds from the very first.
  struct Size: Decodable {
    var at: Double
    var width: Int
    var height: Int
    var pictures: Int
  }

  /// What a browser counted itself.
  struct Browser: Decodable {
    var pliCount: Int?
    var framesDropped: Int?
    /// Of RTP payload, those of pictures.
    var videoBytes: Int?
  }

  var connected: Bool
  /// Of the picture.
  var codec: String?
  var error: String?
  var whepStatus: Int?
  var timeToFirstFrameMs: Double?
  var framesDecoded: Int
  var framesPerSecond: Double
  var width: Int
  var height: Int
  var picturesChanged: Bool
  var latencyMs: Latency
  var audio: Audio
  var dataChannel: Channel
  var ipFamily: String?
  /// Of browsers only.
  var sizes: [Size]?
  var browser: Browser?
}

enum ViewerProgram: String, CaseIterable, CustomStringConvertible {
  case aiortc, chromium, firefox, gstreamer

  var description: String { rawValue }

  private static var root: URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  }

  /// GStreamer's bindings exist for Debian's Python only; the others run in the virtual environment of `make setup-test`.
  private var python: String {
    switch self {
    case .gstreamer: "/usr/bin/python3"
    default: Self.root.appending(path: ".build/venv/bin/python").path
    }
  }

  func watch(
    _ url: String, token: String, duration: Double = 4, prefix: [String] = [], arguments: [String] = []
  ) throws -> (result: ViewerResult, log: String) {
    let script = Self.root.appending(path: "Tests/Interop/peers/viewer_\(rawValue).py").path
    let command =
      prefix + [python, script, "--url", url, "--token", token, "--duration", String(duration)] + arguments
    let (output, log, _) = try ChildProcess.run(command[0], Array(command.dropFirst()))
    guard let line = output.split(separator: "\n").last else {
      throw ChildProcess.Problem(description: "\(rawValue) printed no result: \(log.suffix(2000))")
    }
    return (try JSONDecoder().decode(ViewerResult.self, from: Data(line.utf8)), log)
  }
}
