/// Seek points: the clusters that start with a key frame. RFC 9559 section 5.1.5.
struct WebMCues: Sendable {
  private struct Entry: Sendable {
    var milliseconds: Int64
    /// The cluster's position in the segment.
    var position: Int
  }

  private let track: Int
  private var entries: [Entry] = []
  /// Minimum distance between entries. Grows with the recording, so that a night takes no more memory than an hour.
  private var spacing: Int64
  private static let maximumEntries = 8192

  /// `spacing` is in milliseconds.
  init(track: Int, spacing: Int64) {
    self.track = track
    self.spacing = spacing
  }

  var count: Int { entries.count }

  mutating func add(milliseconds: Int64, position: Int) {
    if let last = entries.last, milliseconds - last.milliseconds < spacing { return }
    if entries.count == Self.maximumEntries {
      spacing *= 2
      entries = stride(from: 0, to: entries.count, by: 2).map { entries[$0] }
    }
    entries.append(Entry(milliseconds: milliseconds, position: position))
  }

  /// Removes entries from a position on, for a file that was truncated there.
  mutating func cut(at position: Int) {
    while let last = entries.last, last.position >= position { entries.removeLast() }
  }

  /// The encoded Cues element.
  func bytes() -> [UInt8] {
    var writer = EBMLWriter()
    writer.master(.cues) { cues in
      for entry in entries {
        cues.master(.cuePoint) { point in
          point.unsigned(.cueTime, UInt64(entry.milliseconds))
          point.master(.cueTrackPositions) { positions in
            positions.unsigned(.cueTrack, UInt64(track))
            positions.unsigned(.cueClusterPosition, UInt64(entry.position))
          }
        }
      }
    }
    return writer.bytes
  }
}
