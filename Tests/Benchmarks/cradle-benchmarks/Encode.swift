import ArgumentParser
import Codecs
import Frames
import Picture
import Wire

/// Encodes the recorded test pictures with the child's VP8 encoder, flat out, and compares what a decoder makes of it.
struct Encode: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Processor time and picture quality of the VP8 encoder by itself.")

  @OptionGroup var options: PictureOptions
  @Option(help: "libvpx's cpu-used, -16 (fast) to -1. Write --speed=-8.")
  var speed = -8
  @Option(help: "Temporal layers, 1 or 2.")
  var layers = 2
  @Option(help: "kbit/s.")
  var bitrate = 1500
  @Option(help: "Encoder threads.")
  var threads = 1
  @Option(help: "How many pictures.")
  var frames = 300
  @Flag(help: "Do not decode: for processor time alone.")
  var noQuality = false
  @Flag(help: "Only draw: what the pictures themselves cost.")
  var noEncode = false

  private struct Report: Encodable {
    var frames: Int
    var dropped: Int
    /// What came out, by the pictures' own time.
    var kbps: Double
    /// Of encoding alone: neither drawing nor decoding.
    var cpuMillisecondsPerFrame: Double
    /// Mean of the pictures' luma PSNR, as `vpxenc --psnr` has it; a dropped picture is compared with the one before.
    var lumaPSNR: Double?
    /// PSNR of the mean squared error of all pictures.
    var lumaPSNROverall: Double?
  }

  func run() throws {
    let picture = options.picture
    let encoder = try VP8Encoder(
      configuration: VP8EncoderConfiguration(
        width: options.width, height: options.height, framesPerSecond: options.framerate, bitrateKbps: bitrate,
        threads: threads, speed: speed, temporalLayers: layers))
    let decoder = noQuality ? nil : try VP8Decoder()
    var (dropped, bytes) = (0, 0)
    var spent = Duration.zero
    var quality = Quality()
    var shown: VideoFrame?
    for number in 0..<max(1, frames) {
      let source = picture.recorded(number, at: options.time(of: number))
      if noEncode { continue }
      let before = processorTime()
      let encoded = try encoder.encode(source)
      spent += processorTime() - before
      if let encoded {
        bytes += encoded.data.count
        shown = try decoder?.decode(encoded.data)
      } else {
        dropped += 1
      }
      if let shown { quality.add(source, shown) }
    }
    let count = max(1, frames)
    try printJSON(
      Report(
        frames: count, dropped: dropped,
        kbps: Double(bytes) * 8 / 1000 * Double(options.framerate) / Double(count),
        cpuMillisecondsPerFrame: spent.inMilliseconds / Double(count), lumaPSNR: quality.mean,
        lumaPSNROverall: quality.overall))
  }
}
