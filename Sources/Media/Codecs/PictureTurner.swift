internal import CYUV
public import Frames

/// Rotates and mirrors pictures with libyuv.
public enum PictureTurner {
  /// The picture, rotated clockwise by 0, 90, 180 or 270 degrees and then mirrored, with capture time and number of the original.
  /// `pool` has frames of the size that results.
  public static func turn(
    _ frame: VideoFrame, degrees: Int, isMirrored: Bool, into pool: VideoFramePool
  ) -> VideoFrame {
    precondition(
      degrees % 180 == 0
        ? pool.width == frame.width && pool.height == frame.height
        : pool.width == frame.height && pool.height == frame.width, "the pool is for pictures that are turned")
    let turned = pool.makeFrame(captureTime: frame.captureTime, sequence: frame.sequence)
    // With a negative height libyuv first turns the picture upside down, which is half a turn and mirrored. So one pass does both.
    let clockwise = isMirrored ? (540 - degrees) % 360 : degrees
    I420Rotate(
      frame.y, Int32(frame.strideY), frame.u, Int32(frame.strideUV), frame.v, Int32(frame.strideUV), turned.mutableY,
      Int32(turned.strideY), turned.mutableU, Int32(turned.strideUV), turned.mutableV, Int32(turned.strideUV),
      Int32(frame.width), Int32(isMirrored ? -frame.height : frame.height), RotationMode(UInt32(clockwise)))
    return turned
  }
}
