internal import Frames

/// Which tracks a recording has.
public struct WebMTracks: Hashable, Sendable {
  /// VP8.
  public var hasVideo: Bool
  /// Channels of the Opus track, 1 or 2; nil for none.
  public var audioChannels: Int?

  /// At least one of them.
  public init(hasVideo: Bool = true, audioChannels: Int? = 1) {
    precondition(hasVideo || audioChannels != nil, "a recording has a track")
    precondition(1...2 ~= audioChannels ?? 1, "Opus with mapping family 0 has one or two channels")
    self.hasVideo = hasVideo
    self.audioChannels = audioChannels
  }
}

/// Everything before the first cluster, and the offsets of the fields that are filled in at the end of a recording.
struct WebMHeader: Sendable {
  let bytes: [UInt8]
  /// Eight bytes: the size of the segment.
  let segmentSizeOffset: Int
  /// The origin of positions in the segment. RFC 9559 section 16.
  let segmentOffset: Int
  let seekHeadOffset: Int
  let durationOffset: Int
  /// Width and height of the video track.
  let pictureSizeOffset: Int?
  private let infoPosition: Int
  private let tracksPosition: Int

  static let videoTrack = 1
  static let audioTrack = 2

  /// One tick of all timestamps: 1 ms, as in the WebM guidelines.
  private static let nanosecondsPerTick: UInt64 = 1_000_000
  /// libopus's lookahead of 6.5 ms at 48 kHz: the decoder's first output precedes the recording. RFC 7845 section 4.2.
  static let opusPreSkip = 312
  /// How far before a seek target a decoder must start to converge. RFC 7845 section 4.6.
  private static let seekPreRollNanoseconds: UInt64 = 80_000_000

  /// `picture` is required with a video track. `startedAt` is the wall clock, in nanoseconds since 1970.
  init(tracks: WebMTracks, picture: PictureSize?, startedAt: Int64?) {
    var file = EBMLWriter()
    file.raw(Self.documentHeader())
    file.id(.segment)
    segmentSizeOffset = file.count
    file.raw(withUnsafeBytes(of: EBMLWriter.unknownSize.bigEndian, Array.init))
    segmentOffset = file.count
    seekHeadOffset = file.count
    infoPosition = Self.seekHeadLength
    let info = Self.info(startedAt: startedAt)
    tracksPosition = infoPosition + info.bytes.count
    file.raw(Self.seekHead([(.info, infoPosition), (.tracks, tracksPosition)]))
    durationOffset = file.count + info.durationOffset
    file.raw(info.bytes)
    let content = Self.trackEntries(tracks, picture)
    var element = EBMLWriter()
    element.binary(.tracks, content.bytes)
    let contentOffset = file.count + element.count - content.bytes.count
    pictureSizeOffset = content.pictureSizeOffset.map { contentOffset + $0 }
    file.raw(element.bytes)
    bytes = file.bytes
  }

  // MARK: known at the end

  /// In milliseconds; replaces a Void element. RFC 9559 section 5.1.2.10.
  static func duration(milliseconds: Int64) -> [UInt8] {
    var writer = EBMLWriter()
    writer.float(.duration, Double(milliseconds))
    return writer.bytes
  }

  /// Both always in two bytes, so that they can be overwritten.
  static func pictureSize(_ size: PictureSize) -> [UInt8] {
    var writer = EBMLWriter()
    writer.unsigned(.pixelWidth, UInt64(size.width), length: 2)
    writer.unsigned(.pixelHeight, UInt64(size.height), length: 2)
    return writer.bytes
  }

  /// The seek head including the cues. RFC 9559 section 5.1.1.
  func seekHead(cuesPosition: Int) -> [UInt8] {
    Self.seekHead([(.info, infoPosition), (.tracks, tracksPosition), (.cues, cuesPosition)])
  }

  private static let seekEntryLength = 21
  /// Room for three entries; a missing one is a Void element.
  private static let seekHeadLength = 5 + 3 * seekEntryLength

  private static func seekHead(_ entries: [(EBMLElement, Int)]) -> [UInt8] {
    var writer = EBMLWriter()
    writer.master(.seekHead) { head in
      for (element, position) in entries {
        head.master(.seek) { seek in
          seek.unsigned(.seekID, UInt64(element.rawValue))
          seek.unsigned(.seekPosition, UInt64(position), length: 8)
        }
      }
    }
    if writer.count < seekHeadLength { writer.void(count: seekHeadLength - writer.count) }
    return writer.bytes
  }

  // MARK: parts

  private static func documentHeader() -> [UInt8] {
    var writer = EBMLWriter()
    writer.master(.ebml) { header in
      header.unsigned(.ebmlVersion, 1)
      header.unsigned(.ebmlReadVersion, 1)
      header.unsigned(.ebmlMaxIDLength, 4)
      header.unsigned(.ebmlMaxSizeLength, 8)
      header.text(.docType, "webm")
      // CodecDelay and SeekPreRoll came with 4, SimpleBlock with 2. RFC 9559 section 4.
      header.unsigned(.docTypeVersion, 4)
      header.unsigned(.docTypeReadVersion, 2)
    }
    return writer.bytes
  }

  private static func info(startedAt: Int64?) -> (bytes: [UInt8], durationOffset: Int) {
    var content = EBMLWriter()
    content.unsigned(.timestampScale, nanosecondsPerTick)
    content.text(.muxingApp, "Cradle")
    content.text(.writingApp, "Cradle")
    if let startedAt { content.date(.dateUTC, unixNanoseconds: startedAt) }
    let durationOffset = content.count
    content.void(count: duration(milliseconds: 0).count)
    var writer = EBMLWriter()
    writer.binary(.info, content.bytes)
    return (writer.bytes, writer.count - content.count + durationOffset)
  }

  private static func trackEntries(
    _ tracks: WebMTracks, _ picture: PictureSize?
  ) -> (bytes: [UInt8], pictureSizeOffset: Int?) {
    var writer = EBMLWriter()
    var pictureSizeOffset: Int?
    if let picture {
      let size = pictureSize(picture)
      writer.master(.trackEntry) { entry in
        begin(&entry, number: videoTrack, type: 1, codec: "V_VP8")
        entry.master(.video) { video in
          // Progressive. RFC 9559 section 5.1.4.1.28.1.
          video.unsigned(.flagInterlaced, 2)
          video.raw(size)
        }
      }
      pictureSizeOffset = writer.count - size.count
    }
    if let channels = tracks.audioChannels {
      writer.master(.trackEntry) { entry in
        begin(&entry, number: audioTrack, type: 2, codec: "A_OPUS")
        entry.binary(.codecPrivate, opusHead(channels: channels))
        entry.unsigned(.codecDelay, UInt64(opusPreSkip) * 1_000_000_000 / UInt64(AudioFormat.sampleRate))
        entry.unsigned(.seekPreRoll, seekPreRollNanoseconds)
        entry.master(.audio) { audio in
          audio.float(.samplingFrequency, Double(AudioFormat.sampleRate))
          audio.unsigned(.channels, UInt64(channels))
        }
      }
    }
    return (writer.bytes, pictureSizeOffset)
  }

  private static func begin(_ entry: inout EBMLWriter, number: Int, type: UInt64, codec: String) {
    entry.unsigned(.trackNumber, UInt64(number))
    entry.unsigned(.trackUID, UInt64(number))
    entry.unsigned(.trackType, type)
    entry.unsigned(.flagLacing, 0)
    // Defaults to English if omitted.
    entry.text(.language, "und")
    entry.text(.codecID, codec)
  }

  /// RFC 7845 section 5.1; little-endian.
  private static func opusHead(channels: Int) -> [UInt8] {
    let rate = UInt32(AudioFormat.sampleRate)
    var head = Array("OpusHead".utf8)
    head += [1, UInt8(channels), UInt8(opusPreSkip & 0xff), UInt8(opusPreSkip >> 8)]
    head += (0..<4).map { UInt8(truncatingIfNeeded: rate >> UInt32(8 * $0)) }
    head += [0, 0, 0]
    return head
  }
}
