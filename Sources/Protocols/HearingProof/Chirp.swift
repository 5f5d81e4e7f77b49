internal import Wire

/// The soft sound that a speaker plays to prove that it is heard: a maximum-length sequence on a carrier of 3 kHz,
/// 1.8 to 4.2 kHz for the most part. Small speakers and Opus carry that band, and a room's rumble is below it.
public enum Chirp {
  /// Hz.
  public static let sampleRate = 48_000
  /// 2400 chips a second.
  static let samplesPerChip = 20
  /// 0.427 s at 48 kHz.
  public static let sampleCount = (MaximumLengthSequence.length + 1) * samplesPerChip
  static let duration: Duration = .seconds(1) * sampleCount / sampleRate
  /// RMS, dB below full scale: no chirp is louder.
  public static let loudestDb = -40.0

  /// One period of the carrier: 3 kHz at 48 kHz.
  static let carrier: [(cosine: Float, sine: Float)] = UnitCircle.table(16)

  /// The samples.
  ///
  /// - Parameter levelDb: RMS, dB relative to full scale; at most `loudestDb`.
  public static func samples(levelDb: Double) -> [Int16] {
    let amplitude = amplitude(min(loudestDb, levelDb))
    return wave.map { Int16(clamping: Int(saturating: Double(($0 * amplitude).rounded()))) }
  }

  /// Chips joined by straight lines, times the carrier; its RMS is 1.
  private static let wave: [Float] = {
    let chips = [0] + MaximumLengthSequence.chips + [0]
    var wave: [Float] = []
    wave.reserveCapacity(sampleCount)
    for index in 0..<sampleCount {
      let chip = index / samplesPerChip
      let part = Float(index % samplesPerChip) / Float(samplesPerChip)
      let base = chips[chip] + (chips[chip + 1] - chips[chip]) * part
      wave.append(base * carrier[index % carrier.count].cosine)
    }
    var power: Float = 0
    for value in wave { power += value * value }
    let scale = 1 / (power / Float(sampleCount)).squareRoot()
    return wave.map { $0 * scale }
  }()

  /// 16-bit RMS of a level that is at most `loudestDb` and at least -70 dB, in steps of 1 dB.
  private static func amplitude(_ levelDb: Double) -> Float {
    var amplitude: Float = 327.68
    var level = loudestDb
    while level - 1 >= max(-70, levelDb) {
      level -= 1
      // 10^(-1/20)
      amplitude *= 0.891_250_9
    }
    return amplitude
  }
}
