/// The device as the playback loop sees it: ALSA, or a fake in tests.
protocol PlaybackPort: ~Copyable {
  var name: String { get }
  /// Samples to keep in the device: enough to sleep between two visits, but no more, because they add delay.
  var target: Int { get }
  /// The samples in the device's buffer.
  func queued() throws(DeviceError) -> PlaybackQueue
  /// Delay of the next sample written until it is heard, in samples: `queued` plus everything behind the buffer.
  func delay() -> Int
  /// Writes without blocking; returns how many samples were accepted.
  func write(_ samples: ArraySlice<Int16>) throws(DeviceError) -> PlaybackOutcome
}

enum PlaybackQueue: Hashable, Sendable {
  case samples(Int)
  /// Underrun or suspend; the device has been prepared again and is empty.
  case interrupted
  /// It cannot accept samples yet.
  case notReady
}

enum PlaybackOutcome: Hashable, Sendable {
  case samples(Int)
  case interrupted
}
