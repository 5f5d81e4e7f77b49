internal import Frames
internal import Glibc
internal import Wire

/// A camera on a Raspberry Pi's ribbon cable, as `rpicam-hello --list-cameras` lists it.
public struct RaspberryPiDescription: Codable, Hashable, Sendable {
  /// `rpicam:0`, for the configuration.
  public var device: String
  /// The sensor and its size, such as `imx708_noir [4608x2592 10-bit RGGB]`.
  public var name: String
  /// The sensor's sizes with the highest rate, as listed: `1536x864 [120.13 fps - (768, 432)/3072x1728 crop]`.
  public var modes: [String]

  private static let patience: Duration = .seconds(10)
  private static let maximumBytes = 64 * 1024

  /// Empty where the program is not installed or finds no camera.
  static func all() -> [RaspberryPiDescription] {
    guard let text = output(of: ["rpicam-hello", "--list-cameras"]) else { return [] }
    return parse(text)
  }

  /// Nil if it cannot be run.
  private static func output(of words: [String]) -> String? {
    guard var pipe = try? ProgramPipe(words) else { return nil }
    let deadline = MonotonicClock.now + patience
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < maximumBytes, MonotonicClock.now < deadline {
      var poll = PollSet(reading: [pipe.output])
      _ = poll.wait(.milliseconds(100), or: -1)
      pipe.readErrors()
      let count = read(pipe.output, &buffer, buffer.count)
      if count == 0 { break }
      if count > 0 { bytes += buffer[..<count] }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// rpicam-apps, core/options.cpp: `0 : imx708 [4608x2592 10-bit RGGB] (/base/soc/i2c0mux/i2c@1/imx708@1a)`, then its
  /// modes, indented; the first one of a pixel format follows its name in quotes.
  static func parse(_ text: String) -> [RaspberryPiDescription] {
    var result: [RaspberryPiDescription] = []
    for line in text.split(whereSeparator: \.isNewline) {
      if let match = line.wholeMatch(of: #/(\d) : (.+) \([^()]*\)\s*/#) {
        result.append(RaspberryPiDescription(device: "rpicam:\(match.1)", name: shown(match.2), modes: []))
      } else if let match = line.firstMatch(of: #/\d+x\d+ \[.*\]/#), !result.isEmpty {
        result[result.count - 1].modes.append(shown(match.0))
      }
    }
    return result
  }

  private static func shown(_ text: Substring) -> String {
    String(text).printable(maximum: 120)
  }
}
