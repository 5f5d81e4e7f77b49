import ArgumentParser
import Foundation
import Frames
import Picture
import Wire

/// Writes test pictures as YUV4MPEG2: a recording for encoders that read files, or live for another program's camera.
struct WriteY4M: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "y4m", abstract: "Writes the test pictures, with their timecode, as Y4M.")

  @OptionGroup var options: PictureOptions
  @Argument(help: "The file; - for standard output.")
  var output: String
  @Option(help: "How many pictures; 0: until nobody reads them any more.")
  var frames = 300
  @Flag(help: "At their rate, stamped with the present time, instead of as fast as they are taken.")
  var live = false

  func run() throws {
    if output != "-" {
      guard FileManager.default.createFile(atPath: output, contents: nil) else {
        throw ValidationError("\(output) cannot be written")
      }
    }
    let file = output == "-" ? FileHandle.standardOutput : try FileHandle(forWritingTo: URL(filePath: output))
    let (width, height) = (options.width, options.height)
    try file.write(contentsOf: Data("YUV4MPEG2 W\(width) H\(height) F\(options.framerate):1 Ip A1:1 C420\n".utf8))
    let picture = options.picture
    var bytes = Data(capacity: width * height * 3 / 2 + 6)
    var due = MonotonicClock.now
    for number in 0..<(frames == 0 ? Int.max : frames) {
      let frame: VideoFrame
      if live {
        MonotonicClock.sleep(until: due)
        frame = picture.draw(
          captureTime: MonotonicClock.now, sequence: UInt64(number), unixNanoseconds: MonotonicClock.unixNanoseconds)
        // A reader that stops for a while does not get the missed pictures in one burst.
        due = max(due + options.time(of: 1), MonotonicClock.now)
      } else {
        frame = picture.recorded(number, at: options.time(of: number))
      }
      bytes.removeAll(keepingCapacity: true)
      bytes.append(contentsOf: "FRAME\n".utf8)
      Self.append(frame.y, stride: frame.strideY, width: width, height: height, to: &bytes)
      Self.append(frame.u, stride: frame.strideUV, width: width / 2, height: height / 2, to: &bytes)
      Self.append(frame.v, stride: frame.strideUV, width: width / 2, height: height / 2, to: &bytes)
      try file.write(contentsOf: bytes)
    }
    try file.close()
  }

  private static func append(
    _ plane: UnsafePointer<UInt8>, stride: Int, width: Int, height: Int, to bytes: inout Data
  ) {
    for row in 0..<height { bytes.append(plane + row * stride, count: width) }
  }
}
