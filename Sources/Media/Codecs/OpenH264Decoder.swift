internal import COpenH264
public import Frames
internal import VideoFormats
public import Wire

/// H.264 by OpenH264: baseline, main and high profile, 8 bits, 4:2:0. Synchronous; used from one thread at a time.
public final class OpenH264Decoder {
  private let decoder: UnsafeMutablePointer<ISVCDecoder?>
  private let maximumPixels: Int
  private var copies = DecodedCopies()

  /// `maximumPixels` limits the allocation that a peer's parameter sets can cause.
  public init(maximumPixels: Int = 4096 * 2304) throws(CodecError) {
    self.maximumPixels = maximumPixels
    var made: UnsafeMutablePointer<ISVCDecoder?>?
    guard WelsCreateDecoder(&made) == 0, let made else { throw .setUp("H.264 decoder") }
    guard copenh264_decoder_start(made) == 0 else {
      WelsDestroyDecoder(made)
      throw .setUp("H.264 decoder")
    }
    decoder = made
  }

  deinit { copenh264_decoder_destroy(decoder) }

  /// Decodes one complete picture in the format of ITU-T H.264 annex B. The size is rounded up to even numbers; `sequence` counts
  /// pictures.
  ///
  /// Throws `corrupt` for data that OpenH264 rejects, `unsupported` for a picture that is too large; either way it takes a key
  /// frame before the picture is right again.
  public func decode(_ bytes: [UInt8], captureTime: Instant = .zero) throws(CodecError) -> VideoFrame {
    for unit in AnnexB.units(of: bytes) where H264UnitType(of: unit) == .sequenceParameters {
      guard let size = try? H264SequenceParameters(parsing: unit) else { throw .corrupt("an H.264 parameter set") }
      guard size.width * size.height <= maximumPixels else {
        throw .unsupported("an H.264 picture of \(size.width)×\(size.height)")
      }
    }
    var planes: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?)
    planes = (nil, nil, nil)
    var output = SBufferInfo()
    let count = Int32(clamping: bytes.count)
    let status = withUnsafeMutablePointer(to: &planes) { planes in
      planes.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 3) {
        copenh264_decode(decoder, bytes, count, $0, &output)
      }
    }
    guard status == dsErrorFree else { throw .corrupt("OpenH264's error \(status.rawValue)") }
    guard output.iBufferStatus == 1, let y = planes.0, let u = planes.1, let v = planes.2 else {
      throw .corrupt("no picture in an H.264 frame")
    }
    let buffer = copenh264_buffer(&output)
    return copies.copy(
      (UnsafePointer(y), UnsafePointer(u), UnsafePointer(v)),
      strides: (buffer.iStride.0, buffer.iStride.1, buffer.iStride.1), width: Int(buffer.iWidth),
      height: Int(buffer.iHeight), captureTime: captureTime)
  }
}
