internal import Wire

/// Puts pictures and sound in the order of their times. They come on ways of different length, so each waits for the
/// other track to get as far, but not for long: a track that has fallen silent holds up nothing.
struct BlockInterleaver: Sendable {
  private var video = BlockQueue()
  private var audio = BlockQueue()
  private let isSingle: Bool
  /// The first key frame's time; before it nothing comes out.
  private(set) var start: Instant?

  /// How much of a track waits for the other one.
  static let patience: Duration = .milliseconds(500)
  static let maximumBlocks = 512
  static let maximumBytes = 16 << 20

  init(tracks: WebMTracks) {
    isSingle = !tracks.hasVideo || tracks.audioChannels == nil
  }

  /// Recording begins here; sound from before is let go.
  mutating func begin(at time: Instant) {
    start = time
    audio.drop { $0.time < time }
  }

  /// False for a block from before the beginning.
  mutating func add(_ block: WebMBlock) -> Bool {
    if let start, block.time < start { return false }
    if block.isVideo { video.add(block) } else { audio.add(block) }
    // Sound that came before its key frame may be later than it.
    if start == nil {
      let isOverfull = isOverfull
      audio.drop { isOverfull || block.time - $0.time > Self.patience }
    }
    return true
  }

  /// The next block that can go; all of them when `flushing`.
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

/// The blocks of one track that wait, half a second at most.
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

  /// Lets go what is in front and meets the condition.
  mutating func drop(while condition: (WebMBlock) -> Bool) {
    while let first, condition(first) { _ = take() }
  }
}
