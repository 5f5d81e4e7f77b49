internal import Wire

/// What the playback loop needs of a device: ALSA, or a test's own.
protocol PlaybackPort: ~Copyable {
  var name: String { get }
  /// Samples that should wait in the device: enough to sleep between two visits, and no more, because they are delay.
  var target: Int { get }
  /// How many samples wait in the device's buffer.
  func queued() throws(DeviceError) -> PlaybackQueue
  /// How long the next sample that is written will take to be heard, in samples; `queued` and what lies behind the buffer.
  func delay() -> Int
  /// Takes samples without blocking; how many of them.
  func write(_ samples: ArraySlice<Int16>) throws(DeviceError) -> PlaybackOutcome
}

enum PlaybackQueue: Hashable, Sendable {
  case samples(Int)
  /// It ran dry or slept and has been made ready again; it is empty.
  case interrupted
  /// It cannot take anything yet.
  case notReady
}

enum PlaybackOutcome: Hashable, Sendable {
  case samples(Int)
  case interrupted
}
