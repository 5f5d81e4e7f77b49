internal import Control

/// What is sent to viewers on a narrow path each second. Five levels a second and a heartbeat with all of the path take
/// 12 kbit/s with all headers, which sound and picture need there.
struct NarrowPathPushes {
  /// What goes out with a heartbeat.
  struct Beat: Equatable {
    /// The loudest since the last heartbeat; nil if none was measured.
    var level: LevelDocument?
    /// Whether the heartbeat has the path's figures.
    var includesPath: Bool
  }

  private var loudest: LevelDocument?
  private var beats = 0

  /// A heartbeat of 430 bytes, a level, and the headers of both, each second.
  static let kbps = 6
  /// In heartbeats.
  private static let pathInterval = 5

  mutating func add(_ level: LevelDocument) {
    if level.levelDb >= loudest?.levelDb ?? -.infinity { loudest = level }
  }

  mutating func beat() -> Beat {
    defer {
      loudest = nil
      beats = (beats + 1) % Self.pathInterval
    }
    return Beat(level: loudest, includesPath: beats == 0)
  }
}
