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
  private static let patience: Duration = .seconds(3)

  /// Fails with `ControlError`.
  static func take(_ pipeline: VideoPipeline, quality: Int, on loop: any EventLoop) -> EventLoopFuture<Still> {
    NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
      if case .off = pipeline.camera { throw ControlError(.unavailable, "The camera is paused.") }
      if case .missing(let error) = pipeline.camera {
        throw ControlError(.unavailable, "The camera \(pipeline.settings.cameraID) is missing: \(error.plain).")
      }
      guard let frame = pipeline.takeFrame(within: patience) else {
        throw ControlError(.unavailable, "The camera \(pipeline.settings.cameraID) gives no picture.")
      }
      do throws(CodecError) {
        return Still(
          jpeg: try JPEGEncoder().encode(frame, quality: quality), width: frame.width, height: frame.height)
      } catch {
        throw ControlError(.internal, "The picture could not be encoded.")
      }
    }
  }
}
