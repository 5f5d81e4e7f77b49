internal import Frames
internal import Wire

struct FrameConverter {
  let format: PixelFormat
  let width: Int
  let height: Int
  let stride: Int
  let pool: VideoFramePool
  init(format: PixelFormat, width: Int, height: Int, stride: Int) {
    self.format = format
    self.width = width
    self.height = height
    self.stride = stride
    pool = VideoFramePool(width: width, height: height)
  }
  func convert(_ pixels: UnsafeRawBufferPointer, captureTime: Instant, _ sequence: UInt64) -> VideoFrame? {
    if let count = format.byteCount(stride: stride, height: height), pixels.count < count { return nil }
    let frame = pool.makeFrame(captureTime: captureTime, sequence: sequence)
    switch format {
    case .yuyv:
      for y in 0..<height {
        for x in 0..<width {
          frame.mutableY[y * frame.strideY + x] = pixels[y * stride + 2 * x]
          if y & 1 == 0 {
            let p = (x & 1 == 0) ? frame.mutableU : frame.mutableV
            p[y / 2 * frame.strideUV + x / 2] = pixels[y * stride + 2 * x + 1]
          }
        }
      }
    case .nv12:
      for y in 0..<height { for x in 0..<width { frame.mutableY[y * frame.strideY + x] = pixels[y * stride + x] } }
      for y in 0..<height / 2 {
        for x in 0..<width / 2 {
          frame.mutableU[y * frame.strideUV + x] = pixels[stride * height + y * stride + 2 * x]
          frame.mutableV[y * frame.strideUV + x] = pixels[stride * height + y * stride + 2 * x + 1]
        }
      }
    case .yuv420:
      for y in 0..<height { for x in 0..<width { frame.mutableY[y * frame.strideY + x] = pixels[y * stride + x] } }
      for y in 0..<height / 2 {
        for x in 0..<width / 2 {
          frame.mutableU[y * frame.strideUV + x] = pixels[stride * height + y * stride / 2 + x]
          frame.mutableV[y * frame.strideUV + x] = pixels[stride * height * 5 / 4 + y * stride / 2 + x]
        }
      }
    default: return nil
    }
    return frame
  }
}
