internal import Frames
internal import Wire

/// Timestamps audio blocks: smooths the sound card's coarse position reports and counts lost samples.
///
/// A card reports its position in steps, so a sample may be older than measured but never younger. The earliest
/// measurements are therefore the true ones: the clock follows them at once, and later ones only at the rate of drift.
struct CaptureClock: Sendable {
  private var expected: Instant?
  private var position: UInt64 = 0

  /// A card reports at least once per buffer; anything later than that is a jump, not drift.
  private static let jump: Duration = .milliseconds(200)
  /// Each block corrects this fraction of the difference: 20 ms of steps cost 0.3 ms, and 1000 ppm of drift 1.3 ms.
  private static let smoothing: Int64 = 64

  /// Places the next 20 ms. `measured` is when its first sample was captured, as far as the card knows; `afterGap` is
  /// true if recording was interrupted before it.
  mutating func place(measured: Instant, afterGap: Bool) -> (captureTime: Instant, samplePosition: UInt64) {
    var captureTime = measured
    if let expected {
      let difference = measured - expected
      if afterGap {
        // Capture time never goes backwards: a gap shorter than the card's error loses nothing.
        position += difference > .zero ? Self.samples(in: difference) : 0
        captureTime = max(measured, expected)
      } else if difference > .zero, Self.jump > difference {
        captureTime = expected + .nanoseconds(difference.nanoseconds / Self.smoothing)
      }
    }
    let placed = (captureTime, position)
    position += UInt64(AudioFormat.samplesPerBlock)
    expected = captureTime + AudioFormat.blockDuration
    return placed
  }

  private static func samples(in duration: Duration) -> UInt64 {
    UInt64((duration.inSeconds * Double(AudioFormat.sampleRate)).rounded())
  }
}
