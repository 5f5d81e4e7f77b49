internal import CYUV
public import Frames
public import Wire

/// Uncompressed pixel layouts of cameras, with their V4L2 names.
public enum PixelFormat: String, CaseIterable, Sendable {
  /// V4L2_PIX_FMT_YUYV: Y0 U Y1 V.
  case yuyv
  /// V4L2_PIX_FMT_UYVY: U Y0 V Y1.
  case uyvy
  /// V4L2_PIX_FMT_NV12: Y plane, then U and V interleaved, 2×2 subsampled.
  case nv12
  /// V4L2_PIX_FMT_NV21: the same with V first.
  case nv21
  /// V4L2_PIX_FMT_YUV420 (YU12): Y, U, V planes.
  case yuv420
  /// V4L2_PIX_FMT_YVU420 (YV12): Y, V, U planes.
  case yvu420
  /// V4L2_PIX_FMT_GREY: Y alone.
  case grey

  /// Minimum bytes in a row of `width` pixels; for planar formats, of the Y plane.
  public func bytesPerLine(width: Int) -> Int {
    switch self {
    case .yuyv, .uyvy: (width + 1) / 2 * 4
    case .nv12, .nv21: (width + 1) & ~1
    case .yuv420, .yvu420, .grey: width
    }
  }

  /// Size of a picture with rows of `bytesPerLine`. Planar chroma rows have half of that.
  public func byteCount(bytesPerLine: Int, height: Int) -> Int {
    switch self {
    case .yuyv, .uyvy, .grey: bytesPerLine * height
    case .nv12, .nv21: bytesPerLine * height + bytesPerLine * ((height + 1) / 2)
    case .yuv420, .yvu420: bytesPerLine * height + 2 * ((bytesPerLine + 1) / 2 * ((height + 1) / 2))
    }
  }
}

/// Converts raw camera pictures to I420 frames with libyuv.
public enum PixelConverter {
  /// Converts one picture of `width` × `height` pixels. `bytesPerLine` is the driver's (V4L2 bytesperline), 0 for rows
  /// without padding.
  ///
  /// Throws `sizeMismatch` if the pool is for another size and `corrupt` if the buffer is too short.
  public static func convert(
    _ bytes: UnsafeRawBufferPointer, format: PixelFormat, width: Int, height: Int, bytesPerLine: Int = 0,
    pool: VideoFramePool, captureTime: Instant, sequence: UInt64
  ) throws(CodecError) -> VideoFrame {
    guard width > 0, height > 0, pool.width == (width + 1) & ~1, pool.height == (height + 1) & ~1 else {
      throw .sizeMismatch(width: width, height: height)
    }
    let stride = bytesPerLine == 0 ? format.bytesPerLine(width: width) : bytesPerLine
    // Drivers do not pad rows by more than a page or so; the bound also keeps the products below from overflowing.
    guard (format.bytesPerLine(width: width)...1 << 20).contains(stride) else {
      throw .unsupported("rows of \(bytesPerLine) bytes for \(width) pixels")
    }
    guard bytes.count >= format.byteCount(bytesPerLine: stride, height: height),
      let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    else { throw .corrupt("\(bytes.count) bytes for a picture of \(width)×\(height)") }
    let frame = pool.makeFrame(captureTime: captureTime, sequence: sequence)
    fill(frame, from: start, format: format, stride: stride, width: width, height: height)
    frame.repeatEdge(width: width, height: height)
    return frame
  }

  private static func fill(
    _ frame: VideoFrame, from start: UnsafePointer<UInt8>, format: PixelFormat, stride: Int, width: Int, height: Int
  ) {
    let (y, u, v) = (frame.mutableY, frame.mutableU, frame.mutableV)
    let (strideY, strideUV) = (Int32(frame.strideY), Int32(frame.strideUV))
    let (columns, rows, step) = (Int32(width), Int32(height), Int32(stride))
    let chroma = start + stride * height
    let chromaStride = (stride + 1) / 2
    let secondChroma = chroma + chromaStride * ((height + 1) / 2)
    switch format {
    case .yuyv: YUY2ToI420(start, step, y, strideY, u, strideUV, v, strideUV, columns, rows)
    case .uyvy: UYVYToI420(start, step, y, strideY, u, strideUV, v, strideUV, columns, rows)
    case .nv12: NV12ToI420(start, step, chroma, step, y, strideY, u, strideUV, v, strideUV, columns, rows)
    case .nv21: NV21ToI420(start, step, chroma, step, y, strideY, u, strideUV, v, strideUV, columns, rows)
    case .yuv420:
      I420Copy(
        start, step, chroma, Int32(chromaStride), secondChroma, Int32(chromaStride), y, strideY, u, strideUV, v,
        strideUV, columns, rows)
    case .yvu420:
      I420Copy(
        start, step, secondChroma, Int32(chromaStride), chroma, Int32(chromaStride), y, strideY, u, strideUV, v,
        strideUV, columns, rows)
    case .grey: I400ToI420(start, step, y, strideY, u, strideUV, v, strideUV, columns, rows)
    }
  }
}
