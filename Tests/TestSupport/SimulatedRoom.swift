/// A room in numbers: pink noise, a wall that echoes, reverberation that dies away.
public struct SimulatedRoom {

  /// RMS of `pink` before scaling, measured over 10 s.
  private static let pinkRMS: Float = {
    var source = Pink(seed: 1)
    var power: Float = 0
    for _ in 0..<96_000 {
      let value = source.next()
      power += value * value
    }
    return (power / 96_000).squareRoot()
  }()

  /// Paul Kellet's economy filter: 3 dB less per octave, within 0.5 dB.
  private struct Pink {
    var random: SeededGenerator
    var a: Float = 0
    var b: Float = 0
    var c: Float = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func next() -> Float {
      let white = Float(Int64(bitPattern: random.next()) >> 40) / 8_388_608
      a = 0.99765 * a + white * 0.0990460
      b = 0.96300 * b + white * 0.2965164
      c = 0.57000 * c + white * 1.0526913
      return a + b + c + white * 0.1848
    }
  }

  private let seed: UInt64
  /// RMS at the microphone, in steps of 16 bits.
  private let noiseRMS: Float

  public init(seed: UInt64, noiseRMS: Float = 8) {
    self.seed = seed
    self.noiseRMS = noiseRMS
  }

  /// What the microphone hears: noise, and the chirp with the room's answer at a place.
  ///
  /// - Parameter chirpRMS: of the direct sound with all echoes.
  public func hear(_ chirp: [Int16], chirpRMS: Float, at place: Int, count: Int) -> [Int16] {
    var random = SeededGenerator(seed: seed &* 977)
    // Direct sound, a strong echo after 10 to 20 ms, 60 reflections over 300 ms.
    var taps: [(delay: Int, gain: Float)] = [(0, 1), (480 + Int.random(in: 0..<480, using: &random), 0.6)]
    for _ in 0..<60 {
      let delay = Int.random(in: 200..<14_400, using: &random)
      taps.append((delay, Float.random(in: -0.25...0.25, using: &random) * (1 - Float(delay) / 14_400)))
    }
    var heard = [Float](repeating: 0, count: count)
    for tap in taps where !chirp.isEmpty {
      for index in 0..<min(chirp.count, count - place - tap.delay) {
        heard[place + tap.delay + index] += tap.gain * Float(chirp[index])
      }
    }
    var power: Float = 0
    for value in heard { power += value * value }
    let scale = power > 0 ? chirpRMS / (power / Float(chirp.count)).squareRoot() : 0
    var pink = Pink(seed: seed)
    let noise = noiseRMS / Self.pinkRMS
    return heard.map { Int16(max(-32768, min(32767, ($0 * scale + pink.next() * noise).rounded()))) }
  }
}
