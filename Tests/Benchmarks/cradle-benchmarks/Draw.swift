import ArgumentParser
import Frames
import Picture
import Wire

/// Draws the test picture at its rate, as the child's test camera does, and says what that costs.
struct Draw: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "What drawing the test picture costs.")

  @OptionGroup var options: PictureOptions
  @Option(help: "How long to draw.")
  var seconds = 10

  private struct Report: Encodable {
    var frames: Int
    /// Processor time of one picture, waking up for it included.
    var cpuMillisecondsPerFrame: Double
    /// Of one core, at this frame rate.
    var cpuShare: Double
  }

  func run() throws {
    let picture = options.picture
    let frames = max(1, seconds * options.framerate)
    let began = MonotonicClock.now
    let before = processorTime()
    for number in 0..<frames {
      MonotonicClock.sleep(until: began + options.time(of: number))
      _ = picture.draw(
        captureTime: MonotonicClock.now, sequence: UInt64(number), unixNanoseconds: MonotonicClock.unixNanoseconds)
    }
    let each = (processorTime() - before).inMilliseconds / Double(frames)
    try printJSON(
      Report(
        frames: frames, cpuMillisecondsPerFrame: each, cpuShare: each * Double(options.framerate) / 1000))
  }
}
