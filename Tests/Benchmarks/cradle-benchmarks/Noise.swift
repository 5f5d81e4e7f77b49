import ArgumentParser
import Codecs
import Frames
import Wire

/// Encodes a dim room with a sensor's noise at each of libvpx's noise filter settings, and compares what a decoder makes of
/// it with the room without noise.
struct Noise: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Bit rate, picture quality and processor time of the VP8 encoder's noise filter.")

  @OptionGroup var options: PictureOptions
  @Option(help: "libvpx's cpu-used, -16 (fast) to -1. Write --speed=-8.")
  var speed = -8
  @Option(help: "kbit/s.")
  var bitrate = 1500
  @Option(help: "Factor of the noise; 0 for none.")
  var amount = 1.0
  @Option(help: "How many pictures.")
  var frames = 300
  @Option(help: "Settings of VP8E_SET_NOISE_SENSITIVITY, 0 to 4.")
  var levels = [0, 1, 2, 3, 4]

  private struct Report: Encodable {
    var level: Int
    /// Whether the program uses this one at night.
    var isChosen: Bool
    var dropped: Int
    var kbps: Double
    /// Of encoding alone.
    var cpuMillisecondsPerFrame: Double
    /// Mean of the pictures' luma PSNR against the room without noise.
    var lumaPSNR: Double?
  }

  private struct Whole: Encodable {
    /// Of the pictures that the encoder gets, against the room without noise.
    var noisyPSNR: Double?
    var levels: [Report]
  }

  func run() throws {
    let room = NoisyRoom(width: options.width, height: options.height, amount: amount)
    let encoders = try levels.map { level in
      let encoder = try VP8Encoder(
        configuration: VP8EncoderConfiguration(
          width: options.width, height: options.height, framesPerSecond: options.framerate, bitrateKbps: bitrate,
          speed: speed, noiseSensitivity: level))
      return (level, encoder, try VP8Decoder())
    }
    var reports = levels.map { level in
      Report(
        level: level, isChosen: level == VP8EncoderConfiguration.nightNoiseSensitivity, dropped: 0, kbps: 0,
        cpuMillisecondsPerFrame: 0)
    }
    var qualities = levels.map { _ in Quality() }
    var shown: [VideoFrame?] = levels.map { _ in nil }
    var noise = Quality()
    let count = max(1, frames)
    // All settings take turns on each picture, so that a busy machine is busy for all of them.
    for number in 0..<count {
      let clean = room.clean(number, at: options.time(of: number))
      let noisy = room.noisy(clean, number: number)
      noise.add(clean, noisy)
      for (index, (_, encoder, decoder)) in encoders.enumerated() {
        let before = processorTime()
        let encoded = try encoder.encode(noisy)
        reports[index].cpuMillisecondsPerFrame += (processorTime() - before).inMilliseconds / Double(count)
        if let encoded {
          reports[index].kbps +=
            Double(encoded.data.count) * 8 / 1000 * Double(options.framerate) / Double(count)
          shown[index] = try decoder.decode(encoded.data)
        } else {
          reports[index].dropped += 1
        }
        if let shown = shown[index] { qualities[index].add(clean, shown) }
      }
    }
    for index in reports.indices { reports[index].lumaPSNR = qualities[index].mean }
    try printJSON(Whole(noisyPSNR: noise.mean, levels: reports))
  }
}
