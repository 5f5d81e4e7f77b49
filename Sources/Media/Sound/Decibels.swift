internal import Glibc

/// Levels relative to full scale. A sine of full amplitude is 0 dBFS both as peak and as RMS (AES17), so that a meter
/// shows a test tone's nominal level.
public enum Decibels {
  /// The level of silence: the noise floor of 16 bits.
  public static let silence = -96.0

  /// 1.0 is 0 dB; never below `silence`.
  public static func from(amplitude: Double) -> Double {
    amplitude > 0 ? max(silence, 20 * log10(amplitude)) : silence
  }

  public static func amplitude(_ decibels: Double) -> Double {
    pow(10, decibels / 20)
  }
}
