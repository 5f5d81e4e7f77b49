internal import Codecs
internal import Frames
internal import Wire

/// Converts one camera's pictures to frames.
struct FrameConverter {
  private let format: CameraFormat
  private let width: Int
  private let height: Int
  private let stride: Int
  private let pool: VideoFramePool
  /// For the compressed formats.
  private var decoder: JPEGDecoder?

  /// `width` and `height` in pixels and `stride` in bytes, as set by the driver.
  init(format: CameraFormat, width: Int, height: Int, stride: Int) throws(CodecError) {
    self.format = format
    self.width = width
    self.height = height
    self.stride = stride
    pool = VideoFramePool(width: width, height: height)
    decoder = format.isCompressed ? try JPEGDecoder() : nil
  }

  /// Nil for a truncated or damaged picture: webcams deliver one now and then, most often the first.
  mutating func convert(_ pixels: UnsafeRawBufferPointer, captureTime: Instant, sequence: UInt64) -> VideoFrame? {
    do throws(CodecError) {
      if let decoder {
        return try decoder.decode(pixels, pool: pool, captureTime: captureTime, sequence: sequence)
      }
      guard let layout = format.layout else {
        // The JPEG decoder could not be recreated after the last picture.
        decoder = try JPEGDecoder()
        return nil
      }
      // Some drivers leave it at zero, some forget that a pixel has two bytes; rows never overlap.
      let bytesPerLine = max(stride, layout.bytesPerLine(width: width))
      return try PixelConverter.convert(
        pixels, format: layout, width: width, height: height, bytesPerLine: bytesPerLine, pool: pool,
        captureTime: captureTime, sequence: sequence)
    } catch {
      // After a truncated header the library waits for the rest of it, whatever follows: start with a new decoder.
      if decoder != nil { decoder = try? JPEGDecoder() }
      return nil
    }
  }
}

extension CameraFormat {
  /// The layout of an uncompressed format.
  fileprivate var layout: PixelFormat? {
    switch self {
    case .yuv420: .yuv420
    case .nv12: .nv12
    case .nv21: .nv21
    case .yvu420: .yvu420
    case .yuyv: .yuyv
    case .uyvy: .uyvy
    case .grey: .grey
    case .mjpeg, .jpeg: nil
    }
  }
}
