/// Mixes music and a voice for a speaker: ducks the music under the voice and keeps the sum below full scale. Allocates
/// nothing.
public struct Mixer: Sendable {
  private var ducker = Ducker()

  public init() {}

  /// `music` already has its gain and is modified; `voice` is multiplied by `voiceGain`. All three have the same number
  /// of samples.
  public mutating func mix(music: inout [Float], voice: [Int16], voiceGain: Float, into output: inout [Int16]) {
    ducker.apply(to: &music, under: voice)
    let scale = voiceGain / 32768
    for index in 0..<min(music.count, voice.count, output.count) {
      output[index] = Int16(SoftLimiter.limit(music[index] + Float(voice[index]) * scale) * 32767)
    }
  }
}
