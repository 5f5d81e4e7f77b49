import Codecs
import Frames
import Wire

/// Opus packets from a peer.
enum OpusFuzz: FuzzBody {
  static let name = "Opus"

  static var seeds: [[UInt8]] {
    guard let encoder = try? OpusEncoder() else { return [] }
    return (0..<6).compactMap { index in
      let samples = (0..<AudioFormat.samplesPerBlock).map { Int16(truncatingIfNeeded: $0 * (97 + index) % 9000) }
      return try? encoder.encode(AudioBlock(samples: samples, captureTime: .zero, samplePosition: 0)).data
    }
  }

  static func run(_ input: [UInt8]) {
    guard let decoder = try? OpusDecoder() else { return }
    _ = try? decoder.decode(input)
    _ = try? decoder.decodeLost(before: input)
    _ = try? decoder.conceal()
  }
}
