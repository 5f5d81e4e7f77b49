internal import Codecs
internal import Frames
internal import VideoFormats
internal import Wire

/// The encoders of one camera and codec, one for each rendition that somebody is on. Lives on the encoder thread.
struct RenditionEncoders {
  private let settings: VideoPipeline.Settings
  private var slots: PerRendition<EncoderSlot?> = PerRendition { _ in nil }
  private var pools: PerRendition<VideoFramePool?> = PerRendition { _ in nil }
  /// Of the present picture, each scaled once.
  private var scaled: PerRendition<VideoFrame?> = PerRendition { _ in nil }

  private let codec: VideoCodec

  init(settings: VideoPipeline.Settings, codec: VideoCodec) {
    self.settings = settings
    self.codec = codec
  }

  /// Renditions that have an encoder.
  var running: [Rendition] { Rendition.allCases.filter { slots[$0] != nil } }

  /// The libvpx `cpu-used` of a rendition; nil without an encoder.
  func speed(of rendition: Rendition) -> Int? { slots[rendition]?.speed }

  /// Ends the encoders that nobody is on. That of the camera's own picture in VP8, which most viewers take, stays, at rest:
  /// setting it up takes half of the time to the first picture.
  mutating func keep(only wanted: [Rendition]) {
    for rendition in Rendition.allCases where !wanted.contains(rendition) {
      if codec == .vp8, rendition == .high { continue }
      slots[rendition] = nil
      pools[rendition] = nil
    }
  }

  /// Nil when the rate control dropped the picture, or the encoder failed.
  mutating func encode(_ frame: VideoFrame, _ order: RenditionOrders.Order, isNight: Bool) -> EncodedVideoFrame? {
    let rendition = order.rendition
    guard let picture = picture(frame, in: rendition) else { return nil }
    var slot = slots[rendition] ?? EncoderSlot(settings: settings, codec: codec, rendition: rendition)
    var encoded = slot.encode(
      picture, kbps: order.kbps, forceKeyFrame: order.isKeyFrame, filtersNoise: isNight && rendition.needsNoiseFilter)
    encoded?.rendition = rendition
    slots[rendition] = slot
    return encoded
  }

  /// Reports how long all renditions of a picture took together: the encoders share one thread.
  mutating func note(encodeTime: Duration, of renditions: [Rendition]) {
    for rendition in renditions { slots[rendition]?.note(encodeTime: encodeTime) }
    scaled = PerRendition { _ in nil }
  }

  /// The picture in the rendition's size. From the next larger one that there is, which is less to read.
  private mutating func picture(_ frame: VideoFrame, in rendition: Rendition) -> VideoFrame? {
    guard let size = rendition.size(ofCamera: frame.width, frame.height, codec: codec) else { return nil }
    guard size != (frame.width, frame.height) else { return frame }
    if let known = scaled[rendition], known.sequence == frame.sequence, known.captureTime == frame.captureTime {
      return known
    }
    if pools[rendition].map({ ($0.width, $0.height) != size }) ?? true {
      pools[rendition] = VideoFramePool(width: size.width, height: size.height)
    }
    let larger = Rendition.allCases.first { $0 > rendition && scaled[$0]?.sequence == frame.sequence }
    let source = larger.flatMap { scaled[$0] } ?? frame
    let picture = pools[rendition].map { PictureScaler.scale(source, into: $0) }
    scaled[rendition] = picture
    return picture
  }
}

extension Rendition {
  /// Sixteen pixels of the camera make one of the low rendition, which leaves a quarter of the sensor's noise.
  fileprivate var needsNoiseFilter: Bool { self != .low }
}
