internal import Wire

/// Adds up the time without a picture or sound from waits that really ran, so that a stopped process or a suspended
/// machine does not look like a dead device.
struct SilenceWatch: Sendable {
  private var limit: Duration
  private let later: Duration
  private var quiet: Duration = .zero

  init(first: Duration, then later: Duration) {
    limit = first
    self.later = later
  }

  static let advice = "It is opened again; if this goes on, plug it in again or restart it."

  /// For a microphone that delivers zeros.
  static let gateAdvice =
    "Check its switch and plug it in again; if it mutes itself while a room is quiet (a noise gate), set may-be-silent: true"

  mutating func heard() {
    limit = later
    quiet = .zero
  }

  mutating func quiet(for time: Duration, device: String) throws(DeviceError) {
    quiet += time
    guard quiet >= limit else { return }
    throw DeviceError(
      device: device, reason: .silent(milliseconds: Int(quiet.inMilliseconds)),
      advice: Self.advice)
  }
}
