internal import Wire

/// Orders pictures and sound by time. Their paths differ in delay, so each waits for the other track to catch up, but
/// not for long: a track that has gone silent does not hold up the other.
struct BlockInterleaver: Sendable {
  private var video = BlockQueue()
  private var audio = BlockQueue()
  private let isSingle: Bool
  /// The first key frame's time; nothing comes out before it.
  private(set) var start: Instant?

  /// How much of one track is held back for the other.
  static let patience: Duration = .milliseconds(500)
  static let maximumBlocks = 512
  static let maximumBytes = 16 << 20

  init(tracks: WebMTracks) {
    isSingle = !tracks.hasVideo || tracks.audioChannels == nil
  }

  /// Recording begins here; earlier sound is dropped.
  mutating func begin(at time: Instant) {
    start = time
    audio.drop { $0.time < time }
  }

  /// False for a block from before the start.
  mutating func add(_ block: WebMBlock) -> Bool {
    if let start, block.time < start { return false }
    if block.isVideo { video.add(block) } else { audio.add(block) }
    // Sound that arrived before the key frame may have a later time.
    if start == nil {
      let isOverfull = isOverfull
      audio.drop { isOverfull || block.time - $0.time > Self.patience }
    }
    return true
  }

  /// The next block that may be written; all of them when `flushing`.
  mutating func next(flushing: Bool = false) -> WebMBlock? {
    guard start != nil else { return nil }
    switch (video.first, audio.first) {
    case (nil, nil): return nil
    case (let picture?, let sound?): return picture.time <= sound.time ? video.take() : audio.take()
    case (_?, nil): return flushing || mayPass(video) ? video.take() : nil
    case (nil, _?): return flushing || mayPass(audio) ? audio.take() : nil
    }
  }

  private func mayPass(_ queue: BlockQueue) -> Bool {
    isSingle || isOverfull || queue.span > Self.patience
  }

  private var isOverfull: Bool {
    video.count + audio.count > Self.maximumBlocks || video.byteCount + audio.byteCount > Self.maximumBytes
  }
}

/// The queued blocks of one track, half a second at most.
private struct BlockQueue: Sendable {
  private var blocks: [WebMBlock] = []
  private(set) var byteCount = 0

  var count: Int { blocks.count }
  var first: WebMBlock? { blocks.first }
  /// From the first to the last.
  var span: Duration { blocks.isEmpty ? .zero : blocks[blocks.count - 1].time - blocks[0].time }

  mutating func add(_ block: WebMBlock) {
    blocks.append(block)
    byteCount += block.data.count
  }

  mutating func take() -> WebMBlock {
    let block = blocks.removeFirst()
    byteCount -= block.data.count
    return block
  }

  /// Drops blocks from the front while the condition holds.
  mutating func drop(while condition: (WebMBlock) -> Bool) {
    while let first, condition(first) { _ = take() }
  }
}
