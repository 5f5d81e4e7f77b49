internal import Codecs
internal import Frames
internal import Wire

/// Converts one camera's pictures to frames.
struct FrameConverter {
  private let format: CameraFormat
  /// As set by the driver.
  private let width: Int
  private let height: Int
  private let stride: Int
  private var pool: VideoFramePool
  /// For the compressed formats.
  private var decoder: JPEGDecoder?
  /// A size that the pictures have in place of the pool's, and how many in a row.
  private var other = (width: 0, height: 0, count: 0)

  /// Why the last picture was dropped, for a person; nil if it was not.
  private(set) var fault: String?
  /// What is odd about the pictures but does them no harm, for a person.
  private(set) var remarks: Set<String> = []

  /// One picture with another size may be a damaged header; a camera that means it sends more of them.
  private static let confirmations = 3

  /// `width` and `height` in pixels and `stride` in bytes, as set by the driver.
  init(format: CameraFormat, width: Int, height: Int, stride: Int) throws(CodecError) {
    self.format = format
    self.width = width
    self.height = height
    self.stride = stride
    pool = VideoFramePool(width: width, height: height)
    decoder = format.isCompressed ? try JPEGDecoder() : nil
  }

  /// Size of the frames, both even: the driver's, or that of a camera whose JPEG pictures have another.
  var size: (width: Int, height: Int) { (pool.width, pool.height) }

  /// Nil for a truncated or damaged picture: webcams deliver one now and then, most often the first.
  mutating func convert(_ pixels: UnsafeRawBufferPointer, captureTime: Instant, sequence: UInt64) -> VideoFrame? {
    do throws(CodecError) {
      let frame = try frame(pixels, captureTime: captureTime, sequence: sequence)
      (fault, other.count) = (nil, 0)
      return frame
    } catch {
      fault = error.words
      // After a truncated header the library waits for the rest of it, whatever follows: start with a new decoder.
      if decoder != nil { decoder = try? JPEGDecoder() }
      guard case .sizeMismatch(let width, let height) = error, isNewSize(width, height) else { return nil }
      pool = VideoFramePool(width: width, height: height)
      other.count = 0
      return convert(pixels, captureTime: captureTime, sequence: sequence)
    }
  }

  private mutating func frame(
    _ pixels: UnsafeRawBufferPointer, captureTime: Instant, sequence: UInt64
  ) throws(CodecError) -> VideoFrame {
    if let decoder {
      let frame = try decoder.decode(pixels, pool: pool, captureTime: captureTime, sequence: sequence)
      if !decoder.irregularities.isEmpty { remarks.formUnion(decoder.irregularities) }
      return frame
    }
    guard let layout = format.layout else {
      // The JPEG decoder could not be recreated after the last picture.
      decoder = try JPEGDecoder()
      throw .corrupt("the decoder was lost")
    }
    // Some drivers leave it at zero, some forget that a pixel has two bytes; rows never overlap.
    let bytesPerLine = max(stride, layout.bytesPerLine(width: width))
    return try PixelConverter.convert(
      pixels, format: layout, width: width, height: height, bytesPerLine: bytesPerLine, pool: pool,
      captureTime: captureTime, sequence: sequence)
  }

  /// Whether compressed pictures have had this size several times in a row. No more than four times what was asked for, or of
  /// 1080 rows: a damaged header must not cost any amount of memory.
  private mutating func isNewSize(_ width: Int, _ height: Int) -> Bool {
    let most = 4 * max(self.width * self.height, 1920 * 1088)
    guard format.isCompressed, 16...16384 ~= width, 16...16384 ~= height, width * height <= most else { return false }
    other = other.width == width && other.height == height ? (width, height, other.count + 1) : (width, height, 1)
    return other.count >= Self.confirmations
  }
}

extension CodecError {
  fileprivate var words: String {
    switch self {
    case .setUp(let text), .failed(let text), .corrupt(let text), .unsupported(let text): text
    case .sizeMismatch(let width, let height): "\(width)x\(height) in place of what was asked for"
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
