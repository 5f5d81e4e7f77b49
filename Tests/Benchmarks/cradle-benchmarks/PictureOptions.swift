import ArgumentParser
import Frames
import Picture
import Wire

/// Size and rate of the test pictures, the same flags for each command.
struct PictureOptions: ParsableArguments {
  @Option(help: "Pixels, even.")
  var width = 1280
  @Option(help: "Pixels, even.")
  var height = 720
  @Option(help: "Pictures a second.")
  var framerate = 30

  func validate() throws {
    guard (2...16384).contains(width), (2...16384).contains(height), width % 2 == 0, height % 2 == 0 else {
      throw ValidationError("width and height must be even and at most 16384")
    }
    guard (1...240).contains(framerate) else { throw ValidationError("the frame rate must be 1 to 240") }
  }

  var picture: TestPicture { TestPicture(width: width, height: height) }

  /// The time from the first picture to number `number`.
  func time(of number: Int) -> Duration {
    .nanoseconds(Int64(number) * 1_000_000_000 / Int64(framerate))
  }
}

extension TestPicture {
  /// Pictures that come out the same in every run start at this unix time.
  private static let recordedEpoch: Int64 = 1_700_000_000_000_000_000

  /// Picture `number` of a recording: the same in every process of one run, so that encoders can be compared.
  func recorded(_ number: Int, at time: Duration) -> VideoFrame {
    draw(
      captureTime: .zero + time, sequence: UInt64(number), unixNanoseconds: Self.recordedEpoch &+ time.nanoseconds)
  }
}
