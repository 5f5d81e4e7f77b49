internal import Codecs
internal import Control
internal import Devices
internal import Frames
internal import NIOCore
internal import NIOPosix
internal import Pipelines

/// Takes JPEG stills, even while nobody is watching. interfaces/wire.md, "Data channel": `screenshot.take`.
enum StillPictures {
  struct Still: Sendable {
    var jpeg: [UInt8]
    /// Pixels.
    var width: Int
    var height: Int
  }

  /// A camera that is closed has to open and adjust its exposure first.
  static let patience: Duration = .seconds(3)

  /// Fails with `ControlError`.
  ///
  /// - Parameter height: makes larger pictures so many rows high; nil: as the camera gives them.
  static func take(
    _ pipeline: VideoPipeline, quality: Int, height: Int? = nil, within patience: Duration = StillPictures.patience,
    on loop: any EventLoop
  ) -> EventLoopFuture<Still> {
    NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
      if case .off = pipeline.camera { throw ControlError(.unavailable, "The camera is paused.") }
      if case .missing(let error) = pipeline.camera {
        throw ControlError(.unavailable, "The camera \(pipeline.settings.cameraID) is missing: \(error.plain).")
      }
      guard let taken = pipeline.takeFrame(within: patience) else {
        throw ControlError(.unavailable, "The camera \(pipeline.settings.cameraID) gives no picture.")
      }
      let frame = scaled(taken, toHeight: height)
      do throws(CodecError) {
        return Still(
          jpeg: try JPEGEncoder().encode(frame, quality: quality), width: frame.width, height: frame.height)
      } catch {
        throw ControlError(.internal, "The picture could not be encoded.")
      }
    }
  }

  private static func scaled(_ frame: VideoFrame, toHeight height: Int?) -> VideoFrame {
    guard let height, height < frame.height else { return frame }
    let width = max(2, frame.width * height / frame.height)
    return PictureScaler.scale(frame, into: VideoFramePool(width: width, height: height))
  }
}
