internal import Codecs
internal import DeviceNames
internal import Frames
internal import Synchronization

/// A camera whose pictures are turned as the configuration asks: once, on the camera's thread, before anybody sees them.
final class TurnedSource: MediaSource {
  private let source: any VideoSource
  private let orientation: Orientation
  /// For pictures of the size that came last.
  private let pool = Mutex<VideoFramePool?>(nil)

  init(_ source: any VideoSource, _ orientation: Orientation) {
    self.source = source
    self.orientation = orientation
  }

  var info: VideoSourceInfo {
    var info = source.info
    (info.width, info.height) = orientation.size(info.width, info.height)
    info.orientation = orientation
    return info
  }

  var damage: Damage { source.damage }

  func start(
    deliver: @escaping @Sendable (VideoFrame) -> Void, failed: @escaping @Sendable (DeviceError) -> Void
  ) {
    source.start(deliver: { [self] in deliver(turned($0)) }, failed: failed)
  }

  func stop() {
    source.stop()
  }

  private func turned(_ frame: VideoFrame) -> VideoFrame {
    let size = orientation.size(frame.width, frame.height)
    let pool = pool.withLock { pool in
      if let known = pool, size == (known.width, known.height) { return known }
      let new = VideoFramePool(width: size.width, height: size.height)
      pool = new
      return new
    }
    return PictureTurner.turn(
      frame, degrees: orientation.rotation.rawValue, isMirrored: orientation.isMirrored, into: pool)
  }
}
