import ArgumentParser
import Codecs
import Foundation
import Frames
import Wire

/// Encodes a dim room with a sensor's noise by several settings of the noise filter, and compares what a decoder makes of
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

  /// By day, libvpx's filter alone, a coarser quantizer alone, and both, as at night and around it.
  private static let filters: [VP8NoiseFilter] = [
    .off, .init(sensitivity: 4, minimumQuantizer: 4), .init(sensitivity: 0, minimumQuantizer: 32),
    .init(sensitivity: 1, minimumQuantizer: 32), .init(sensitivity: 3, minimumQuantizer: 32), .night,
    .init(sensitivity: 4, minimumQuantizer: 24), .init(sensitivity: 4, minimumQuantizer: 40),
  ]

  private struct Report: Encodable {
    var sensitivity: Int
    var minimumQuantizer: Int
    /// `day`, `night`, or none for what the program does not use.
    var use: String?
    var dropped = 0
    var kbps = 0.0
    /// Of encoding alone.
    var cpuMillisecondsPerFrame = 0.0
    /// Mean of the pictures' luma PSNR against the room without noise.
    var lumaPSNR: Double?
    /// The same of those pixels alone that have changed by three levels or more within half a second: a breathing child.
    var movingPSNR: Double?

    init(_ filter: VP8NoiseFilter) {
      sensitivity = filter.sensitivity
      minimumQuantizer = filter.minimumQuantizer
      use = filter == .off ? "day" : filter == .night ? "night" : nil
    }
  }

  private struct Whole: Encodable {
    /// Of the pictures that the encoder gets, against the room without noise.
    var noisyPSNR: Double?
    var settings: [Report]
  }

  func run() throws {
    let room = NoisyRoom(width: options.width, height: options.height, amount: amount)
    let encoders = try Self.filters.map { filter in
      try VP8Encoder(
        configuration: VP8EncoderConfiguration(
          width: options.width, height: options.height, framesPerSecond: options.framerate, bitrateKbps: bitrate,
          speed: speed, noiseFilter: filter))
    }
    let decoders = try Self.filters.map { _ in try VP8Decoder() }
    var reports = Self.filters.map { Report($0) }
    var qualities = Self.filters.map { _ in Quality() }
    var moving = Self.filters.map { _ in Moving() }
    var shown: [VideoFrame?] = Self.filters.map { _ in nil }
    var noise = Quality()
    var before: [VideoFrame] = []
    let count = max(1, frames)
    // All settings take turns on each picture, so that a busy machine is busy for all of them.
    for number in 0..<count {
      let clean = room.clean(number, at: options.time(of: number))
      let noisy = room.noisy(clean, number: number)
      noise.add(clean, noisy)
      before.append(clean)
      let earlier = before.count > options.framerate / 2 ? before.removeFirst() : nil
      for index in encoders.indices {
        let began = processorTime()
        let encoded = try encoders[index].encode(noisy)
        reports[index].cpuMillisecondsPerFrame += (processorTime() - began).inMilliseconds / Double(count)
        if let encoded {
          reports[index].kbps += Double(encoded.data.count) * 8 / 1000 * Double(options.framerate) / Double(count)
          shown[index] = try decoders[index].decode(encoded.data)
        } else {
          reports[index].dropped += 1
        }
        guard let shown = shown[index] else { continue }
        qualities[index].add(clean, shown)
        if let earlier { moving[index].add(clean, shown, earlier: earlier) }
      }
    }
    for index in reports.indices {
      reports[index].lumaPSNR = qualities[index].mean
      reports[index].movingPSNR = moving[index].ratio
    }
    try printJSON(Whole(noisyPSNR: noise.mean, settings: reports))
  }
}

/// PSNR of luma where something moves.
private struct Moving {
  private var squaredError = 0
  private var count = 0

  mutating func add(_ source: VideoFrame, _ shown: VideoFrame, earlier: VideoFrame) {
    for row in 0..<source.height {
      let (left, right) = (source.y + row * source.strideY, shown.y + row * shown.strideY)
      let old = earlier.y + row * earlier.strideY
      for column in 0..<source.width where abs(Int(left[column]) - Int(old[column])) >= 3 {
        let difference = Int(left[column]) &- Int(right[column])
        squaredError &+= difference &* difference
        count += 1
      }
    }
  }

  var ratio: Double? {
    squaredError > 0 ? 10 * log10(255 * 255 * Double(count) / Double(squaredError)) : nil
  }
}
