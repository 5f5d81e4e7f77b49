public import VideoFormats
public import Wire

/// The audio format used throughout: 48 kHz, signed 16-bit, mono.
public enum AudioFormat {
  public static let sampleRate = 48_000
  /// 20 ms, one Opus packet.
  public static let samplesPerBlock = 960
  public static let blockDuration: Duration = .milliseconds(20)
}

/// 20 ms of sound.
public struct AudioBlock: Sendable {
  /// 960 samples.
  public var samples: [Int16]
  /// Capture time of the first sample.
  public var captureTime: Instant
  /// Samples of the source before this block, including lost ones; this is the RTP clock (RFC 7587).
  public var samplePosition: UInt64

  public init(samples: [Int16], captureTime: Instant, samplePosition: UInt64) {
    precondition(samples.count == AudioFormat.samplesPerBlock, "a block is 20 ms at 48 kHz")
    self.samples = samples
    self.captureTime = captureTime
    self.samplePosition = samplePosition
  }
}

/// One encoded picture, ready to be packetised once and sent to all viewers.
public struct EncodedVideoFrame: Sendable {
  /// One complete frame: of VP8 as in RFC 6386, of H.264 in the format of ITU-T H.264 annex B.
  public var data: [UInt8]
  public var captureTime: Instant
  public var isKeyFrame: Bool
  /// 0 is the base layer; layer 1 may be withheld from a viewer.
  public var temporalLayer: Int
  /// The frame depends on base-layer frames only (Y bit, RFC 7741 section 4.2).
  public var isLayerSync: Bool
  public var width: Int
  public var height: Int
  public var codec: VideoCodec
  public var rendition: Rendition
  /// The encoder that it comes from; its frames depend on its own only.
  public var encoding: VideoEncoding { VideoEncoding(codec, rendition) }

  public init(
    data: [UInt8], captureTime: Instant, isKeyFrame: Bool, temporalLayer: Int, isLayerSync: Bool, width: Int,
    height: Int, codec: VideoCodec = .vp8, rendition: Rendition = .high
  ) {
    self.codec = codec
    self.rendition = rendition
    self.data = data
    self.captureTime = captureTime
    self.isKeyFrame = isKeyFrame
    self.temporalLayer = temporalLayer
    self.isLayerSync = isLayerSync
    self.width = width
    self.height = height
  }
}

/// The encodings of a microphone.
public enum SoundRendition: Hashable, Sendable {
  /// A packet for each block.
  case full
  /// For a narrow path: a lower rate, and one packet for several blocks, because headers are most of what a path with
  /// 60 kbit/s has to carry.
  case narrow
}

/// One Opus packet: 20 ms, or several blocks of the narrow rendition.
public struct EncodedAudioPacket: Sendable {
  public var data: [UInt8]
  public var captureTime: Instant
  /// The first block's `samplePosition`, which is its RTP time at 48 kHz.
  public var samplePosition: UInt64
  public var rendition: SoundRendition
  /// A packet of the narrow rendition begins with the same block, so a listener can change between the two here.
  public var isJunction: Bool

  public init(
    data: [UInt8], captureTime: Instant, samplePosition: UInt64, rendition: SoundRendition = .full,
    isJunction: Bool = false
  ) {
    self.data = data
    self.captureTime = captureTime
    self.samplePosition = samplePosition
    self.rendition = rendition
    self.isJunction = isJunction
  }
}
