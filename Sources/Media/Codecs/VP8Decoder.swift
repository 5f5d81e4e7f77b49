internal import CVPX
public import Frames
public import Wire

/// VP8 by libvpx (RFC 6386). Synchronous; used from one thread at a time.
public final class VP8Decoder {
  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private let maximumPixels: Int
  private var copies = DecodedCopies()

  /// `maximumPixels` limits the allocation that a peer's key frame can cause.
  public init(threads: Int = 1, maximumPixels: Int = 4096 * 2304) throws(CodecError) {
    self.maximumPixels = maximumPixels
    context = .allocate(capacity: 1)
    context.initialize(to: vpx_codec_ctx_t())
    var settings = vpx_codec_dec_cfg_t(threads: UInt32(max(1, threads)), w: 0, h: 0)
    guard cvpx_vp8_decoder_init(context, &settings) == VPX_CODEC_OK else {
      context.deallocate()
      throw .setUp("VP8 decoder")
    }
  }

  deinit {
    vpx_codec_destroy(context)
    context.deallocate()
  }

  /// Decodes one complete VP8 frame. The size is rounded up to even numbers; `sequence` counts pictures.
  ///
  /// Throws `corrupt` for data that libvpx rejects, `unsupported` for a picture that is too large; either way it takes
  /// a key frame before the picture is right again.
  public func decode(_ bytes: [UInt8], captureTime: Instant = .zero) throws(CodecError) -> VideoFrame {
    copy(try decodeImage(bytes), captureTime: captureTime)
  }

  /// As `decode`, without a copy: `body` gets libvpx's own picture.
  public func decode<Result>(_ bytes: [UInt8], _ body: (borrowing DecodedPicture) -> Result) throws(CodecError)
    -> Result
  {
    let image = try decodeImage(bytes)
    return body(
      DecodedPicture(
        width: Int(image.pointee.d_w), height: Int(image.pointee.d_h), y: UnsafePointer(image.pointee.planes.0!),
        strideY: Int(image.pointee.stride.0), decoder: self, image: image))
  }

  fileprivate func decodeImage(_ bytes: [UInt8]) throws(CodecError) -> UnsafeMutablePointer<vpx_image_t> {
    guard let header = VP8FrameHeader(bytes) else { throw .corrupt("a VP8 frame without a header") }
    if let size = header.keyFrameSize {
      guard size.width > 0, size.height > 0 else { throw .corrupt("an empty VP8 picture") }
      guard size.width * size.height <= maximumPixels else {
        throw .unsupported("a VP8 picture of \(size.width)×\(size.height)")
      }
    }
    guard vpx_codec_decode(context, bytes, UInt32(bytes.count), nil, 0) == VPX_CODEC_OK else {
      throw .corrupt(String(cString: vpx_codec_error(context)))
    }
    var iterator: vpx_codec_iter_t?
    guard let image = vpx_codec_get_frame(context, &iterator), image.pointee.planes.0 != nil,
      image.pointee.planes.1 != nil, image.pointee.planes.2 != nil
    else {
      throw .corrupt("no picture in a VP8 frame")
    }
    return image
  }

  fileprivate func copy(_ image: UnsafeMutablePointer<vpx_image_t>, captureTime: Instant) -> VideoFrame {
    let (planes, strides) = (image.pointee.planes, image.pointee.stride)
    return copies.copy(
      (UnsafePointer(planes.0!), UnsafePointer(planes.1!), UnsafePointer(planes.2!)),
      strides: (strides.0, strides.1, strides.2), width: Int(image.pointee.d_w), height: Int(image.pointee.d_h),
      captureTime: captureTime)
  }
}

/// A picture still owned by the decoder: valid only inside the closure that receives it.
public struct DecodedPicture: ~Copyable {
  /// Pixels, as the stream says; may be odd.
  public let width: Int
  public let height: Int
  /// `height` rows of `strideY` bytes, the first `width` of them pixels.
  public let y: UnsafePointer<UInt8>
  public let strideY: Int
  fileprivate let decoder: VP8Decoder
  fileprivate let image: UnsafeMutablePointer<vpx_image_t>

  /// A copy that may be kept.
  public func copy(captureTime: Instant) -> VideoFrame {
    decoder.copy(image, captureTime: captureTime)
  }
}
