import RTP

/// Decides which frames can be decoded after those decoded so far. RFC 7741 section 4.2.
///
/// - A key frame needs nothing.
/// - A frame that directly follows the last decoded one, by sequence number or PictureID, has all it can need.
/// - A base-layer frame needs the preceding one, identified by TL0PICIDX; lost upper layers do not matter.
/// - A frame of an upper layer needs the base layer and, unless it is a layer sync, everything before it in its layer.
struct FrameDependencies: Sendable {
  enum Verdict: Sendable {
    case decodable
    /// Something it needs may still arrive.
    case waiting
    /// Something it needs was skipped.
    case undecodable
  }

  private struct Last: Sendable {
    /// The sequence number that follows without a gap.
    var next: Int64
    var pictureID: VP8PayloadDescriptor.PictureID?
    /// Of the last base-layer frame.
    var tl0PictureIndex: UInt8?
    /// Bit k: something of layer k was skipped since its last sync.
    var brokenLayers: UInt8 = 0
  }

  /// Nil: only a key frame can be decoded.
  private var last: Last?

  var awaitsKeyFrame: Bool { last == nil }

  /// The sequence number after the last decoded frame.
  var nextSequence: Int64? { last?.next }

  func verdict(on frame: VP8Frame) -> Verdict {
    if frame.isKeyFrame { return .decodable }
    guard let last else { return .waiting }
    let follows = isNext(frame, after: last)
    guard let layer = frame.temporalLayer, let tl0 = frame.tl0PictureIndex, let lastTL0 = last.tl0PictureIndex else {
      return follows ? .decodable : .waiting
    }
    // 256 base-layer frames take at least as many packets: within fewer, the index is unambiguous.
    let isNear = frame.first - last.next < 256
    if layer.index == 0 {
      return follows || isNear && tl0 == lastTL0 &+ 1 ? .decodable : .waiting
    }
    guard tl0 == lastTL0, isNear else { return .waiting }
    if layer.isSync { return .decodable }
    // Layers 1 to that of the frame.
    let needed = UInt8(truncatingIfNeeded: (2 << Int(layer.index)) - 2)
    if last.brokenLayers & needed != 0 { return .undecodable }
    return follows ? .decodable : .waiting
  }

  /// Packets of frames that could be decoded before this one, which can do without them; nil when there are none.
  func skipped(before frame: VP8Frame) -> Range<Int64>? {
    guard let last, !frame.isKeyFrame, !isNext(frame, after: last), last.next < frame.first else { return nil }
    return last.next..<frame.first
  }

  /// The frame is passed to the decoder now.
  mutating func noteDecoded(_ frame: VP8Frame) {
    var brokenLayers: UInt8 = 0
    if !frame.isKeyFrame, let last {
      brokenLayers = isNext(frame, after: last) ? last.brokenLayers : .max
      if let layer = frame.temporalLayer, layer.isSync { brokenLayers &= ~(1 << layer.index) }
    }
    let isBase = (frame.temporalLayer?.index ?? 0) == 0
    last = Last(
      next: frame.last + 1, pictureID: frame.pictureID,
      tl0PictureIndex: isBase || frame.isKeyFrame ? frame.tl0PictureIndex : last?.tl0PictureIndex,
      brokenLayers: brokenLayers)
  }

  /// The packet after the last decoded frame is padding.
  mutating func notePadding() {
    last?.next += 1
  }

  /// Nothing can be decoded until the next key frame.
  mutating func awaitKeyFrame() {
    last = nil
  }

  private func isNext(_ frame: VP8Frame, after last: Last) -> Bool {
    if frame.first == last.next { return true }
    // Padding between them may have been lost. PictureIDs are unambiguous within fewer packets than they have values.
    switch (frame.pictureID, last.pictureID) {
    case (.short(let new), .short(let old)):
      return new == (old &+ 1) & 0x7f && frame.first - last.next < 0x7f
    case (.long(let new), .long(let old)):
      return new == (old &+ 1) & 0x7fff && frame.first - last.next < 0x7fff
    default:
      return false
    }
  }
}
