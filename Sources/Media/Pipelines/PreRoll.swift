public import Frames
internal import Wire

/// A piece of what is encoded anyway.
public enum EncodedMedia: Sendable {
  case video(EncodedVideoFrame)
  case audio(EncodedAudioPacket)

  var captureTime: Instant {
    switch self {
    case .video(let frame): frame.captureTime
    case .audio(let packet): packet.captureTime
    }
  }

  var byteCount: Int {
    switch self {
    case .video(let frame): frame.data.count
    case .audio(let packet): packet.data.count
    }
  }
}

/// The latest pictures and sound, from a key frame on, so that a recording can begin before what started it.
public struct PreRoll: Sendable {
  /// From a key frame (without pictures: a second of sound) to the next.
  private struct Group {
    var items: [EncodedMedia]
    var begin: Instant
    var bytes: Int
  }

  private let span: Duration
  private let hasVideo: Bool
  private let maximumBytes: Int
  private var groups: [Group] = []
  private var bytes = 0

  /// - Parameters:
  ///   - span: what is kept at least; it begins at the last key frame before that.
  ///   - maximumBytes: older groups go first when there is more.
  public init(span: Duration, hasVideo: Bool, maximumBytes: Int = 16 << 20) {
    self.span = span
    self.hasVideo = hasVideo
    self.maximumBytes = maximumBytes
  }

  public mutating func add(_ item: EncodedMedia) {
    let begins: Bool
    switch item {
    case .video(let frame): begins = frame.isKeyFrame
    case .audio(let packet):
      begins = !hasVideo && groups.last.map { packet.captureTime - $0.begin >= .seconds(1) } ?? true
    }
    if begins {
      groups.append(Group(items: [item], begin: item.captureTime, bytes: item.byteCount))
    } else if let last = groups.indices.last {
      groups[last].items.append(item)
      groups[last].bytes += item.byteCount
    } else {
      // Before the first key frame.
      return
    }
    bytes += item.byteCount
    while groups.count > 1, groups[1].begin <= item.captureTime - span || bytes > maximumBytes { removeFirst() }
    // One group alone is too much: no key frame has come for long.
    if bytes > maximumBytes { removeFirst() }
  }

  private mutating func removeFirst() {
    bytes -= groups.removeFirst().bytes
  }

  /// Everything, oldest first; nothing is kept.
  public mutating func takeAll() -> [EncodedMedia] {
    defer {
      groups = []
      bytes = 0
    }
    return groups.flatMap(\.items)
  }
}
