internal import Wire

/// The part of a recording that is already in the file.
///
/// It can be played while it grows: the segment size stays unknown until the end, blocks are appended whole, and a
/// cluster of unknown size ends where the next one begins (RFC 8794 section 6.2). A kill or a power cut leaves a valid
/// file. Through a pipe it stays so: live streams are like that.
struct WebMSegment {
  private let file: any WebMFile
  private let header: WebMHeader
  private let start: Instant
  private var size: Int
  private var cues: WebMCues
  private var cluster: Cluster?
  private var largest: PictureSize?
  private var lastPicture: PictureSize?
  private(set) var summary: WebMSummary
  /// The newest block's timestamp, in milliseconds.
  private var lastTimestamp: Int64 = 0
  private var lastVideo: (timestamp: Int64, interval: Int64)?

  private struct Cluster {
    var offset: Int
    /// In milliseconds.
    var timestamp: Int64
    /// The summary without this cluster.
    var before: WebMSummary
    var isOpen = true
  }

  /// A block's time is relative to its cluster's in 16 bits (RFC 9559 section 10.1), so the limit is 32 s. With one
  /// second a player without cues seeks quickly, and the duration of a truncated file is accurate to that.
  private static let longestCluster: Int64 = 1000
  /// Duration of the last picture: the interval before it, the first of these initially, and at most the second.
  private static let firstInterval: Int64 = 33
  private static let longestInterval: Int64 = 1000

  /// Writes the header.
  init(
    file: any WebMFile, tracks: WebMTracks, picture: PictureSize?, start: Instant, startedAt: Int64?
  ) throws(WebMError) {
    header = WebMHeader(tracks: tracks, picture: picture, startedAt: startedAt)
    self.file = file
    self.start = start
    (largest, lastPicture) = (picture, picture)
    try file.append(header.bytes)
    size = header.bytes.count
    cues =
      tracks.hasVideo
      ? WebMCues(track: WebMHeader.videoTrack, spacing: 500)
      : WebMCues(track: WebMHeader.audioTrack, spacing: 2000)
    summary = WebMSummary()
    summary.bytes = size
    (summary.width, summary.height) = (picture?.width ?? 0, picture?.height ?? 0)
  }

  /// Blocks come in time order; a late one gets the timestamp of the one before it.
  mutating func write(_ block: WebMBlock) throws(WebMError) {
    let timestamp = max(lastTimestamp, ((block.time - start).nanoseconds &+ 500_000) / 1_000_000)
    var beginsCluster = cluster.map { !$0.isOpen || timestamp - $0.timestamp >= Self.longestCluster } ?? true
    // Key frame and invisible flags of a SimpleBlock: RFC 9559 section 10.2. Every Opus packet is a key frame.
    var flags: UInt8 = 0x80
    if case .video(let frame) = block.content {
      // Cues can point only to a cluster that begins with its key frame.
      beginsCluster = beginsCluster || frame.keyFrameSize != nil
      flags = (frame.keyFrameSize == nil ? 0 : 0x80) | (frame.isShown ? 0 : 0x08)
      if let size = frame.keyFrameSize { try note(size) }
    }
    var writer = EBMLWriter()
    if beginsCluster {
      try closeCluster()
      writer.unknownSize(.cluster)
      writer.unsigned(.timestamp, UInt64(timestamp))
    }
    let relative = UInt16(beginsCluster ? 0 : timestamp - (cluster?.timestamp ?? timestamp))
    writer.id(.simpleBlock)
    writer.size(4 + block.data.count)
    writer.raw([
      0x80 | UInt8(block.isVideo ? WebMHeader.videoTrack : WebMHeader.audioTrack), UInt8(relative >> 8),
      UInt8(relative & 0xff), flags,
    ])
    writer.raw(block.data)
    try file.append(writer.bytes)
    if beginsCluster {
      cluster = Cluster(offset: size, timestamp: timestamp, before: summary)
      addCue(for: block, timestamp)
    }
    size += writer.count
    lastTimestamp = timestamp
    count(block, timestamp)
  }

  /// Finishes the recording: cues, seek head and sizes.
  mutating func finish() throws(WebMError) {
    try closeCluster()
    guard file.isSeekable else { return }
    try appendCues()
    try writeSize()
    try file.synchronize()
  }

  /// As far as possible after the file could not grow any more: a full disk still accepts overwrites.
  mutating func salvage() {
    guard file.isSeekable else { return }
    try? closeCluster()
    if (try? appendCues()) == nil, let cluster, cluster.before.duration > .zero {
      // The last second makes room for the cues, without which the rest is not seekable.
      guard (try? file.truncate(to: cluster.offset)) != nil else { return }
      size = cluster.offset
      summary = cluster.before
      (summary.width, summary.height) = (largest?.width ?? 0, largest?.height ?? 0)
      cues.cut(at: size - header.segmentOffset)
      try? appendCues()
      try? writeDuration()
    }
    summary.bytes = size
    try? writeSize()
    try? file.synchronize()
  }

  /// A track has one size: its largest picture's. Players scale every picture to that. RFC 9559 section 5.1.4.1.28.
  private mutating func note(_ size: PictureSize) throws(WebMError) {
    guard let last = lastPicture, let largest, let offset = header.pictureSizeOffset else { return }
    if size != last { summary.sizeChanges += 1 }
    lastPicture = size
    guard file.isSeekable, size.area > largest.area else { return }
    try file.overwrite(WebMHeader.pictureSize(size), at: offset)
    self.largest = size
    (summary.width, summary.height) = (size.width, size.height)
  }

  private mutating func addCue(for block: WebMBlock, _ timestamp: Int64) {
    guard let cluster else { return }
    switch block.content {
    case .video(let frame) where frame.keyFrameSize == nil: return
    case .audio where header.pictureSizeOffset != nil: return
    default: cues.add(milliseconds: timestamp, position: cluster.offset - header.segmentOffset)
    }
  }

  private mutating func count(_ block: WebMBlock, _ timestamp: Int64) {
    let end: Int64
    switch block.content {
    case .video:
      let interval = lastVideo.map { min(Self.longestInterval, timestamp - $0.timestamp) } ?? Self.firstInterval
      lastVideo = (timestamp, interval)
      end = timestamp + interval
      summary.videoFrames += 1
    case .audio(let nanoseconds):
      end = timestamp + (nanoseconds + 999_999) / 1_000_000
      summary.audioPackets += 1
    }
    summary.duration = max(summary.duration, .milliseconds(end))
    summary.bytes = size
  }

  private mutating func closeCluster() throws(WebMError) {
    guard let open = cluster, open.isOpen else { return }
    cluster?.isOpen = false
    guard file.isSeekable else { return }
    // The ID takes four bytes, the size eight.
    try file.overwrite(EBMLWriter.wideSize(size - open.offset - 12), at: open.offset + 4)
    try writeDuration()
  }

  private func writeDuration() throws(WebMError) {
    let milliseconds = summary.duration.nanoseconds / 1_000_000
    try file.overwrite(WebMHeader.duration(milliseconds: milliseconds), at: header.durationOffset)
  }

  private mutating func appendCues() throws(WebMError) {
    guard cues.count > 0 else { return }
    let bytes = cues.bytes()
    let position = size - header.segmentOffset
    try file.append(bytes)
    size += bytes.count
    summary.bytes = size
    try file.overwrite(header.seekHead(cuesPosition: position), at: header.seekHeadOffset)
  }

  private func writeSize() throws(WebMError) {
    try file.overwrite(EBMLWriter.wideSize(size - header.segmentOffset), at: header.segmentSizeOffset)
  }
}
