internal import CYUV
internal import Frames
internal import Wire

/// Copies the pictures of one decoder, counting them, into frames that may be kept.
struct DecodedCopies {
  private var pool: VideoFramePool?
  private var sequence: UInt64 = 0

  /// - Parameters:
  ///   - planes: Y, U and V.
  ///   - strides: bytes of a row of each.
  ///   - width: as the stream says; may be odd, as `height`.
  mutating func copy(
    _ planes: (UnsafePointer<UInt8>, UnsafePointer<UInt8>, UnsafePointer<UInt8>), strides: (Int32, Int32, Int32),
    width: Int, height: Int, captureTime: Instant
  ) -> VideoFrame {
    let frame = pool(width: width, height: height).makeFrame(captureTime: captureTime, sequence: sequence)
    sequence &+= 1
    I420Copy(
      planes.0, strides.0, planes.1, strides.1, planes.2, strides.2, frame.mutableY, Int32(frame.strideY),
      frame.mutableU, Int32(frame.strideUV), frame.mutableV, Int32(frame.strideUV), Int32(width), Int32(height))
    frame.repeatEdge(width: width, height: height)
    return frame
  }

  private mutating func pool(width: Int, height: Int) -> VideoFramePool {
    if let pool, pool.width == (width + 1) & ~1, pool.height == (height + 1) & ~1 { return pool }
    let made = VideoFramePool(width: width, height: height)
    pool = made
    return made
  }
}
