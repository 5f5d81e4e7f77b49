internal import CTurboJPEG
public import Frames

/// JPEG by libjpeg-turbo, for screenshots. Synchronous; used from one thread at a time.
public final class JPEGEncoder {
  private let handle: tjhandle

  public init() throws(CodecError) {
    guard let handle = tjInitCompress() else { throw .setUp("JPEG encoder") }
    self.handle = handle
  }

  deinit {
    tjDestroy(handle)
  }

  /// A baseline JPEG with 4:2:0 chroma. `quality` is 1...100.
  public func encode(_ frame: VideoFrame, quality: Int = 85) throws(CodecError) -> [UInt8] {
    let (width, height) = (frame.width, frame.height)
    let chromaCount = width / 2 * (height / 2)
    var planes = [UInt8](unsafeUninitializedCapacity: width * height + 2 * chromaCount) { buffer, count in
      let y = buffer.baseAddress!
      SampleRange.copy(
        frame.y, stride: frame.strideY, width: width, height: height, through: SampleRange.fullLuma, to: y)
      for (index, plane) in [frame.u, frame.v].enumerated() {
        SampleRange.copy(
          plane, stride: frame.strideUV, width: width / 2, height: height / 2, through: SampleRange.fullChroma,
          to: y + width * height + index * chromaCount)
      }
      count = buffer.count
    }
    var output: UnsafeMutablePointer<UInt8>?
    var size: UInt = 0
    defer { tjFree(output) }
    let status = planes.withUnsafeMutableBufferPointer { buffer in
      let y = buffer.baseAddress!
      var sources: [UnsafePointer<UInt8>?] = [
        UnsafePointer(y), UnsafePointer(y + width * height), UnsafePointer(y + width * height + chromaCount),
      ]
      let strides = [Int32(width), Int32(width / 2), Int32(width / 2)]
      return tjCompressFromYUVPlanes(
        handle, &sources, Int32(width), strides, Int32(height), Int32(TJSAMP_420.rawValue), &output, &size,
        Int32(min(100, max(1, quality))), 0)
    }
    guard status == 0, let output else {
      throw .failed(tjGetErrorStr2(handle).map { String(cString: $0) } ?? "JPEG encoder")
    }
    return [UInt8](UnsafeBufferPointer(start: output, count: Int(size)))
  }
}
