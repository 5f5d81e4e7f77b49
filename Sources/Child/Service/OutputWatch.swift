internal import Wire

/// Finds an encoder that takes pictures or sound and delivers nothing: its thread runs, and yet nobody gets anything.
struct OutputWatch {
  struct Track {
    /// Name for the log.
    var name: String
    /// Somebody is to get what it makes.
    var isWanted: Bool
    /// Counters that only grow.
    var captured: UInt64
    var encoded: UInt64
  }

  private struct Known {
    var track: Track
    /// Something has gone in at every look since then, and nothing has come out.
    var since: Instant
  }

  /// An encoder that fails is replaced for each picture: hundreds of times by then.
  static let patience: Duration = .seconds(20)

  private var known: [String: Known] = [:]

  /// Call it each second.
  ///
  /// - Returns: names of those that take something and deliver nothing.
  mutating func stuck(_ tracks: [Track], now: Instant) -> [String] {
    tracks.compactMap { track in
      var since = now
      if let before = known[track.name], track.isWanted, track.encoded == before.track.encoded,
        track.captured != before.track.captured
      {
        since = before.since
      }
      known[track.name] = Known(track: track, since: since)
      return now - since >= Self.patience ? track.name : nil
    }
  }
}
