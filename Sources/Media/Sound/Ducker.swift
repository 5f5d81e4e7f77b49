internal import Frames
internal import Glibc

/// Lowers one sound while someone speaks over it, and restores it after the last word.
public struct Ducker: Sendable {
  /// The attenuation: at -18 dB it remains audible below every word.
  public static let depth = -18.0
  /// Time to within a tenth of the target.
  public static let attackSeconds = 0.05
  public static let releaseSeconds = 0.6
  /// Bridges the pauses between words and sentences.
  public static let holdSeconds = 0.5

  private static let low = Float(Decibels.amplitude(depth))
  private static let attack = share(reaching: attackSeconds)
  private static let release = share(reaching: releaseSeconds)
  private static let hold = Int(holdSeconds * Double(AudioFormat.sampleRate))
  /// -46 dBFS: speech is far above it, a microphone's own noise below.
  private static let threshold: UInt16 = 164

  private var gain: Float = 1
  private var held = 0

  /// Lowers `samples` while `voice`, of the same length, contains speech.
  public mutating func apply(to samples: inout [Float], under voice: [Int16]) {
    if voice.contains(where: { $0.magnitude > Self.threshold }) { held = Self.hold }
    guard held > 0 || gain < 0.9999 else { return gain = 1 }
    let (target, share) = held > 0 ? (Self.low, Self.attack) : (1, Self.release)
    for index in samples.indices {
      gain += (target - gain) * share
      samples[index] *= gain
    }
    held = max(0, held - samples.count)
  }

  private static func share(reaching seconds: Double) -> Float {
    Float(1 - exp(-log(10) / (seconds * Double(AudioFormat.sampleRate))))
  }
}
