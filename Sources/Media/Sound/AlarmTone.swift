internal import Frames
internal import Glibc

/// The ringing of an alarm, mixed into what a speaker plays: three rising notes every 1.6 s, which are heard by old ears
/// and through small speakers. The phone page rings with the same ones.
public struct AlarmTone: Sendable {
  /// Hz, and when each begins, in samples.
  private static let notes = [(hertz: 880.0, begin: 0), (hertz: 1109.0, begin: 11_520), (hertz: 1319.0, begin: 23_040)]
  private static let noteSamples = 9600
  /// 10 ms in and out, so that it does not click.
  private static let edge = 480
  private static let roundSamples = 76_800

  private var position = 0
  /// Changes of loudness take 10 ms.
  private var loudness = 0.0

  public init() {}

  /// - Parameter wanted: 0, silent, to 1.
  public mutating func mix(into samples: inout [Int16], loudness wanted: Double) {
    if wanted <= 0, loudness <= 0 {
      position = 0
      return
    }
    let target = min(1, max(0, wanted))
    let step = (target - loudness) / Double(Self.edge)
    for index in samples.indices {
      if abs(target - loudness) > abs(step) { loudness += step } else { loudness = target }
      let value = Self.value(at: position) * loudness * 24_000
      samples[index] = Int16(clamping: Int(samples[index]) + Int(value))
      position = (position + 1) % Self.roundSamples
    }
  }

  private static func value(at position: Int) -> Double {
    guard let note = notes.last(where: { $0.begin <= position }) else { return 0 }
    let since = position - note.begin
    guard since < noteSamples else { return 0 }
    let angle = 2 * Double.pi * note.hertz * Double(since) / Double(AudioFormat.sampleRate)
    let envelope = min(1, Double(min(since, noteSamples - since)) / Double(edge))
    return envelope * (sin(angle) + 0.3 * sin(3 * angle)) / 1.3
  }
}
