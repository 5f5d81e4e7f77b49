internal import CYUV
public import Frames

/// Scales I420 frames by libyuv, keeping their shape.
public enum VideoScaler {
  /// Where a picture lies within a larger one; even numbers.
  public struct Placement: Hashable, Sendable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    public init(x: Int, y: Int, width: Int, height: Int) {
      self.x = x
      self.y = y
      self.width = width
      self.height = height
    }
  }

  /// The largest place of the source's shape in the middle of the target.
  public static func placement(sourceWidth: Int, sourceHeight: Int, in targetWidth: Int, _ targetHeight: Int)
    -> Placement
  {
    var width = targetWidth
    var height = targetHeight
    if sourceWidth * targetHeight > sourceHeight * targetWidth {
      height = max(2, (targetWidth * sourceHeight + sourceWidth / 2) / sourceWidth & ~1)
    } else {
      width = max(2, (targetHeight * sourceWidth + sourceHeight / 2) / sourceHeight & ~1)
    }
    return Placement(
      x: (targetWidth - width) / 2 & ~1, y: (targetHeight - height) / 2 & ~1, width: width, height: height)
  }

  /// The frame in the pool's size, with black bars where the shapes differ. A frame of that size already is returned
  /// itself; capture time and sequence stay.
  public static func scale(_ frame: VideoFrame, pool: VideoFramePool) -> VideoFrame {
    if frame.width == pool.width, frame.height == pool.height { return frame }
    let result = pool.makeFrame(captureTime: frame.captureTime, sequence: frame.sequence)
    let place = placement(sourceWidth: frame.width, sourceHeight: frame.height, in: result.width, result.height)
    if place.width != result.width || place.height != result.height {
      I420Rect(
        result.mutableY, Int32(result.strideY), result.mutableU, Int32(result.strideUV), result.mutableV,
        Int32(result.strideUV), 0, 0, Int32(result.width), Int32(result.height), 16, 128, 128)
    }
    let chromaOffset = place.y / 2 * result.strideUV + place.x / 2
    // Box averages all source pixels when shrinking and is bilinear otherwise, so nothing flickers.
    I420Scale(
      frame.y, Int32(frame.strideY), frame.u, Int32(frame.strideUV), frame.v, Int32(frame.strideUV),
      Int32(frame.width), Int32(frame.height), result.mutableY + place.y * result.strideY + place.x,
      Int32(result.strideY), result.mutableU + chromaOffset, Int32(result.strideUV), result.mutableV + chromaOffset,
      Int32(result.strideUV), Int32(place.width), Int32(place.height), kFilterBox)
    return result
  }
}
