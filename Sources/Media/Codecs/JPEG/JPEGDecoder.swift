internal import CTurboJPEG
internal import CYUV
public import Frames
public import Wire

/// JPEG by libjpeg-turbo, for cameras' Motion JPEG: accepts frames that omit the standard Huffman tables.
/// Synchronous; used from one thread at a time.
public final class JPEGDecoder {
  private var handle: tjhandle
  private var scratch: [UInt8] = []

  public init() throws(CodecError) {
    guard let handle = tjInitDecompress() else { throw .setUp("JPEG decoder") }
    self.handle = handle
  }

  deinit {
    tjDestroy(handle)
  }

  /// What was wrong with the last picture that was decoded and did it no harm, for a log: "no EOI marker". Most often the
  /// same for all of a camera's pictures; empty for a regular JPEG.
  public private(set) var irregularities: Set<String> = []

  /// Decodes a grey or YCbCr picture of any usual subsampling to I420 in limited range.
  ///
  /// A picture comes out whole or not at all: which damage is repaired and which is refused stands in
  /// interfaces/devices.md, "Motion JPEG". A picture with up to 15 rows more than the pool's, or as
  /// many columns as its blocks hold, is cropped.
  ///
  /// Throws `sizeMismatch` if the picture has another size than the pool, `unsupported` for other kinds of JPEG,
  /// `corrupt` for a truncated or damaged picture; the decoder remains usable.
  public func decode(
    _ bytes: UnsafeRawBufferPointer, pool: VideoFramePool, captureTime: Instant, sequence: UInt64
  ) throws(CodecError) -> VideoFrame {
    let structure = try JPEGStructure(bytes)
    try Self.checkKind(structure)
    let frame = pool.makeFrame(captureTime: captureTime, sequence: sequence)
    let header: Header
    var faults = structure.faults
    if let size = Self.fittingSize(structure, pool) {
      header = try decode(bytes, structure, size, into: frame, &faults)
    } else {
      header = try decodeAtPoolSize(bytes, structure, into: frame)
      faults.insert(.wrongSize)
    }
    irregularities = Set(faults.map(\.rawValue))
    SampleRange.limitLuma(frame.mutableY, stride: frame.strideY, width: header.width, height: header.height)
    if header.sampling == TJSAMP_GRAY {
      fillGreyChroma(frame)
    } else {
      for plane in [frame.mutableU, frame.mutableV] {
        SampleRange.limitChroma(plane, stride: frame.strideUV, width: frame.width / 2, height: frame.height / 2)
      }
    }
    frame.repeatEdge(width: header.width, height: header.height)
    return frame
  }

  private static func checkKind(_ structure: JPEGStructure) throws(CodecError) {
    let components = structure.components
    guard structure.precision == 8 else { throw .unsupported("a JPEG of \(structure.precision) bits") }
    guard components.count == 1 || components.count == 3 else {
      throw .unsupported("a JPEG of \(components.count) components")
    }
    if components.count == 3,
      components[1].horizontal != components[2].horizontal
        || components[1].vertical != components[2].vertical
    {
      throw .unsupported("a JPEG whose two colour components have different sizes")
    }
  }

  /// The part of the picture that the pool's frames show; nil if it has another size.
  private static func fittingSize(_ structure: JPEGStructure, _ pool: VideoFramePool) -> PictureSize? {
    let isAlone = structure.components.count == 1
    let column = 8 * (isAlone ? 1 : structure.components.map(\.horizontal).max() ?? 1)
    var size = PictureSize(width: structure.width, height: structure.height)
    if (size.width + 1) & ~1 != pool.width {
      guard size.width > pool.width, (size.width + column - 1) / column == (pool.width + column - 1) / column else {
        return nil
      }
      size.width = pool.width
    }
    if (size.height + 1) & ~1 != pool.height {
      guard (pool.height..<pool.height + 16).contains(size.height) else { return nil }
      size.height = pool.height
    }
    return size
  }

  /// A header that says another width or height than its data have: what is asked for, if that fits exactly.
  private func decodeAtPoolSize(
    _ bytes: UnsafeRawBufferPointer, _ structure: JPEGStructure, into frame: VideoFrame
  ) throws(CodecError) -> Header {
    let mismatch = CodecError.sizeMismatch(width: structure.width, height: structure.height)
    guard (structure.width == frame.width) != (structure.height == frame.height) else { throw mismatch }
    let copy = structure.regular(bytes, size: (frame.width, frame.height))
    do throws(CodecError) {
      let (header, warning) = try copy.withBytes { bytes throws(CodecError) in try decompress(bytes, into: frame) }
      if warning == nil { return header }
    } catch {}
    throw mismatch
  }

  /// - Parameter size: of the picture's part that is wanted; its data may have more rows.
  private func decode(
    _ bytes: UnsafeRawBufferPointer, _ structure: JPEGStructure, _ size: PictureSize, into frame: VideoFrame,
    _ faults: inout Set<JPEGStructure.Fault>
  ) throws(CodecError) -> Header {
    let isCropped = size.width != structure.width || size.height != structure.height
    if structure.faults.isEmpty, !isCropped { return try decode(regular: bytes, structure, into: frame, &faults) }
    if isCropped { faults.insert(.wrongSize) }
    let copy = structure.regular(bytes, size: isCropped ? (size.width, size.height) : nil)
    return try copy.withBytes { bytes throws(CodecError) in
      try decode(regular: bytes, JPEGStructure(bytes), into: frame, &faults)
    }
  }

  private func decode(
    regular bytes: UnsafeRawBufferPointer, _ structure: JPEGStructure, into frame: VideoFrame,
    _ faults: inout Set<JPEGStructure.Fault>
  ) throws(CodecError) -> Header {
    let (header, warning) = try decompress(bytes, into: frame)
    guard let warning else { return header }
    let hasRestarts = structure.restartInterval > 0
    if !hasRestarts {
      // Bytes between the last block and the end: all blocks are there.
      if warning.contains("xtraneous bytes before marker 0xd9") { return header }
      // Without restart markers nothing can be found again behind a gap.
      if warning.contains("premature end") { throw .corrupt(warning) }
    }
    if let entropy = try? JPEGEntropy(bytes, structure, hasRestarts: hasRestarts) {
      // The library has left out the same bytes before restart markers.
      if !entropy.isRepaired { return header }
      faults.insert(.restartMarkers)
      return try decode(structure.regular(bytes, data: entropy.data), into: frame)
    }
    // Some encoders announce restart markers and make none.
    guard hasRestarts, let entropy = try? JPEGEntropy(bytes, structure, hasRestarts: false) else {
      throw .corrupt(warning)
    }
    faults.insert(.restartMarkers)
    return try decode(structure.regular(bytes, data: entropy.data, hasRestarts: false), into: frame)
  }

  /// A repaired copy, which has to be flawless.
  private func decode(_ copy: [UInt8], into frame: VideoFrame) throws(CodecError) -> Header {
    let (header, warning) = try copy.withBytes { bytes throws(CodecError) in try decompress(bytes, into: frame) }
    if let warning { throw .corrupt(warning) }
    return header
  }

  private struct Header {
    var width: Int
    var height: Int
    var sampling: TJSAMP
  }

  /// - Returns: the library's first warning, if it had one: the picture may not be whole.
  private func decompress(
    _ bytes: UnsafeRawBufferPointer, into frame: VideoFrame
  ) throws(CodecError) -> (header: Header, warning: String?) {
    let header = try readHeader(bytes)
    // The library's own reading of the header must not write beyond the frame, whatever `JPEGStructure` has read.
    guard header.width <= frame.width, header.height <= frame.height else {
      throw .sizeMismatch(width: header.width, height: header.height)
    }
    let warning =
      switch header.sampling {
      case TJSAMP_420:
        try decompress(bytes, header, into: frame, u: frame.mutableU, v: frame.mutableV, frame.strideUV)
      case TJSAMP_GRAY: try decompress(bytes, header, into: frame, u: nil, v: nil, 0)
      default: try decompressScaled(bytes, header, into: frame)
      }
    return (header, warning)
  }

  private func readHeader(_ bytes: UnsafeRawBufferPointer) throws(CodecError) -> Header {
    guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { throw .corrupt("an empty JPEG") }
    var (width, height, sampling, space) = (Int32(0), Int32(0), Int32(0), Int32(0))
    let status = tjDecompressHeader3(handle, start, UInt(bytes.count), &width, &height, &sampling, &space)
    guard status == 0 else {
      let isUnsupported = errorText.contains("subsampling") || errorText.contains("nsupported")
      throw isUnsupported ? .unsupported(corruption()) : .corrupt(corruption())
    }
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
    throws(CodecError) -> String?
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
    let result: Result<String?, CodecError> = buffer.withUnsafeMutableBufferPointer { buffer in
      let u = buffer.baseAddress!
      let v = u + count
      let warning: String?
      do throws(CodecError) {
        warning = try decompress(bytes, header, into: frame, u: u, v: v, planeWidth)
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
      return .success(warning)
    }
    return try result.get()
  }

  private func decompress(
    _ bytes: UnsafeRawBufferPointer, _ header: Header, into frame: VideoFrame, u: UnsafeMutablePointer<UInt8>?,
    v: UnsafeMutablePointer<UInt8>?, _ chromaStride: Int
  ) throws(CodecError) -> String? {
    let start = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
    var planes: [UnsafeMutablePointer<UInt8>?] = [frame.mutableY, u, v]
    var strides = [Int32(frame.strideY), Int32(chromaStride), Int32(chromaStride)]
    // Not the fast DCT: its SIMD code overflows on blocks that are half black and half white.
    let status = tjDecompressToYUVPlanes(
      handle, start, UInt(bytes.count), &planes, Int32(header.width), &strides, Int32(header.height),
      TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS)
    guard status != 0 else { return nil }
    let isWarning = tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue)
    let text = corruption()
    guard isWarning else { throw .corrupt(text) }
    return text
  }

  private func fillGreyChroma(_ frame: VideoFrame) {
    for plane in [frame.mutableU, frame.mutableV] {
      SetPlane(plane, Int32(frame.strideUV), Int32(frame.width / 2), Int32(frame.height / 2), 128)
    }
  }

  /// The library's error text. A damaged picture leaves half-read tables in the handle, on which the next good one
  /// would fail, so the handle is replaced.
  private func corruption() -> String {
    let text = errorText
    if let fresh = tjInitDecompress() {
      tjDestroy(handle)
      handle = fresh
    }
    return text
  }

  private var errorText: String {
    tjGetErrorStr2(handle).map { String(cString: $0) } ?? "JPEG"
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` for closures with typed errors.
  fileprivate func withBytes<Value>(
    _ body: (UnsafeRawBufferPointer) throws(CodecError) -> Value
  ) throws(CodecError) -> Value {
    let result: Result<Value, CodecError> = withUnsafeBytes { bytes in
      do throws(CodecError) {
        return .success(try body(bytes))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
