internal import CTurboJPEG
internal import CYUV
public import Frames
public import Wire

/// JPEG by libjpeg-turbo, for cameras' Motion JPEG: accepts frames that omit the standard Huffman tables.
/// Synchronous; used from one thread at a time.
public final class JPEGDecoder {
  private var handle: tjhandle
  private var scratch: [UInt8] = []

  /// Pixels.
  public struct Size: Hashable, Sendable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  public init() throws(CodecError) {
    guard let handle = tjInitDecompress() else { throw .setUp("JPEG decoder") }
    self.handle = handle
  }

  deinit {
    tjDestroy(handle)
  }

  /// The picture's size from its header. Throws `corrupt` if there is none.
  public func size(of bytes: UnsafeRawBufferPointer) throws(CodecError) -> Size {
    let header = try readHeader(bytes)
    return Size(width: header.width, height: header.height)
  }

  /// Decodes a grey or YCbCr picture of any subsampling to I420 in limited range.
  ///
  /// Throws `sizeMismatch` if the pool is for another size, `unsupported` for other colour spaces, `corrupt` for a
  /// truncated or damaged picture; the decoder remains usable.
  public func decode(
    _ bytes: UnsafeRawBufferPointer, pool: VideoFramePool, captureTime: Instant, sequence: UInt64
  ) throws(CodecError) -> VideoFrame {
    let header = try readHeader(bytes)
    let (width, height) = (header.width, header.height)
    guard pool.width == (width + 1) & ~1, pool.height == (height + 1) & ~1 else {
      throw .sizeMismatch(width: width, height: height)
    }
    let frame = pool.makeFrame(captureTime: captureTime, sequence: sequence)
    switch header.sampling {
    case TJSAMP_420: try decompress(bytes, header, into: frame, u: frame.mutableU, v: frame.mutableV, frame.strideUV)
    case TJSAMP_GRAY:
      try decompress(bytes, header, into: frame, u: nil, v: nil, 0)
      fillGreyChroma(frame)
    default: try decompressScaled(bytes, header, into: frame)
    }
    SampleRange.limitLuma(frame.mutableY, stride: frame.strideY, width: width, height: height)
    for plane in [frame.mutableU, frame.mutableV] where header.sampling != TJSAMP_GRAY {
      SampleRange.limitChroma(plane, stride: frame.strideUV, width: frame.width / 2, height: frame.height / 2)
    }
    frame.repeatEdge(width: width, height: height)
    return frame
  }

  private struct Header {
    var width: Int
    var height: Int
    var sampling: TJSAMP
  }

  private func readHeader(_ bytes: UnsafeRawBufferPointer) throws(CodecError) -> Header {
    guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { throw .corrupt("an empty JPEG") }
    var (width, height, sampling, space) = (Int32(0), Int32(0), Int32(0), Int32(0))
    let status = tjDecompressHeader3(handle, start, UInt(bytes.count), &width, &height, &sampling, &space)
    guard status == 0 else { throw corruption() }
    guard width > 0, height > 0, width <= 16384, height <= 16384 else {
      throw .unsupported("a JPEG of \(width)×\(height)")
    }
    let isYCbCr = space == Int32(TJCS_YCbCr.rawValue) || space == Int32(TJCS_GRAY.rawValue)
    guard isYCbCr, (0..<6).contains(sampling) else {
      throw .unsupported("a JPEG of colour space \(space), sampling \(sampling)")
    }
    return Header(width: Int(width), height: Int(height), sampling: TJSAMP(rawValue: UInt32(sampling)))
  }

  /// Other subsamplings: chroma is decoded to a scratch buffer and scaled to 4:2:0.
  private func decompressScaled(_ bytes: UnsafeRawBufferPointer, _ header: Header, into frame: VideoFrame)
    throws(CodecError)
  {
    let sampling = Int32(header.sampling.rawValue)
    let planeWidth = Int(tjPlaneWidth(1, Int32(header.width), sampling))
    let planeHeight = Int(tjPlaneHeight(1, Int32(header.height), sampling))
    guard planeWidth > 0, planeHeight > 0 else { throw .unsupported("JPEG sampling \(sampling)") }
    let count = planeWidth * planeHeight
    if scratch.count < 2 * count { scratch = [UInt8](repeating: 0, count: 2 * count) }
    var buffer: [UInt8] = []
    swap(&buffer, &scratch)
    defer { swap(&buffer, &scratch) }
    let result: Result<Void, CodecError> = buffer.withUnsafeMutableBufferPointer { buffer in
      let u = buffer.baseAddress!
      let v = u + count
      do throws(CodecError) {
        try decompress(bytes, header, into: frame, u: u, v: v, planeWidth)
      } catch {
        return .failure(error)
      }
      // Halving one axis only: bilinear is the mean of two samples, and fast; else box.
      let filter = header.sampling == TJSAMP_422 ? kFilterBilinear : kFilterBox
      for (source, target) in [(u, frame.mutableU), (v, frame.mutableV)] {
        ScalePlane(
          source, Int32(planeWidth), Int32(planeWidth), Int32(planeHeight), target, Int32(frame.strideUV),
          Int32(frame.width / 2), Int32(frame.height / 2), filter)
      }
      return .success(())
    }
    try result.get()
  }

  private func decompress(
    _ bytes: UnsafeRawBufferPointer, _ header: Header, into frame: VideoFrame, u: UnsafeMutablePointer<UInt8>?,
    v: UnsafeMutablePointer<UInt8>?, _ chromaStride: Int
  ) throws(CodecError) {
    let start = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
    var planes: [UnsafeMutablePointer<UInt8>?] = [frame.mutableY, u, v]
    var strides = [Int32(frame.strideY), Int32(chromaStride), Int32(chromaStride)]
    // Not the fast DCT: its SIMD code overflows on blocks that are half black and half white.
    let status = tjDecompressToYUVPlanes(
      handle, start, UInt(bytes.count), &planes, Int32(header.width), &strides, Int32(header.height),
      TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS)
    guard status != 0 else { return }
    // Many cameras pad their frames; libjpeg-turbo warns about it but the picture is intact. With any other warning
    // part of the picture is made up.
    let text = errorText
    let isHarmless = tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue) && text.contains("xtraneous bytes")
    guard isHarmless else { throw corruption() }
  }

  private func fillGreyChroma(_ frame: VideoFrame) {
    for plane in [frame.mutableU, frame.mutableV] {
      SetPlane(plane, Int32(frame.strideUV), Int32(frame.width / 2), Int32(frame.height / 2), 128)
    }
  }

  /// The library's error text. A damaged picture leaves half-read tables in the handle, on which the next good one
  /// would fail, so the handle is replaced.
  private func corruption() -> CodecError {
    let text = errorText
    if let fresh = tjInitDecompress() {
      tjDestroy(handle)
      handle = fresh
    }
    return .corrupt(text)
  }

  private var errorText: String {
    tjGetErrorStr2(handle).map { String(cString: $0) } ?? "JPEG"
  }
}
