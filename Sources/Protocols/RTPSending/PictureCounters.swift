import RTP

/// Keeps PictureID and TL0PICIDX continuous for one viewer, whatever it is not sent and whichever encoder its frames come
/// from. RFC 7741 section 4.2: both go up by one, and a receiver takes a gap for a loss.
struct PictureCounters: Sendable {
  /// Subtracted from the counters of the current source.
  private(set) var offset = VP8CounterOffset()
  /// Nil before the first frame.
  private var source: Int?
  /// As sent with the last frame.
  private var last: (pictureID: UInt16, tl0PictureIndex: UInt8)?

  /// Whether a frame of `source` may follow without being a key frame.
  func isCurrent(_ source: Int) -> Bool { self.source == nil || self.source == source }

  /// A frame of the current source is left out.
  mutating func skip() { offset.pictureID &+= 1 }

  /// A frame is sent, of which this is the first payload.
  mutating func follow(_ payload: [UInt8]?, of source: Int) {
    let isChange = self.source.map { $0 != source } ?? false
    self.source = source
    guard let payload, let counters = VP8Packetizer.counters(in: payload) else { return }
    if isChange, let last {
      // The first frame of a source is a key frame, which is of the base layer.
      offset = VP8CounterOffset(
        pictureID: counters.pictureID &- (last.pictureID &+ 1),
        tl0PictureIndex: counters.tl0PictureIndex &- (last.tl0PictureIndex &+ 1))
    }
    last = (counters.pictureID &- offset.pictureID, counters.tl0PictureIndex &- offset.tl0PictureIndex)
  }
}
