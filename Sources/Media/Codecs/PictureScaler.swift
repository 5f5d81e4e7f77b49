internal import CYUV
public import Frames

/// Makes pictures smaller with libyuv.
public enum PictureScaler {
  /// The picture in the size of `pool`'s frames, with capture time and number of the original. Each pixel is the mean of
  /// those that it stands for.
  public static func scale(_ frame: VideoFrame, into pool: VideoFramePool) -> VideoFrame {
    let scaled = pool.makeFrame(captureTime: frame.captureTime, sequence: frame.sequence)
    I420Scale(
      frame.y, Int32(frame.strideY), frame.u, Int32(frame.strideUV), frame.v, Int32(frame.strideUV),
      Int32(frame.width), Int32(frame.height), scaled.mutableY, Int32(scaled.strideY), scaled.mutableU,
      Int32(scaled.strideUV), scaled.mutableV, Int32(scaled.strideUV), Int32(scaled.width), Int32(scaled.height),
      kFilterBox)
    return scaled
  }
}
