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

  private static let decoder = SharedSubject<OpusDecoder>()

  static func run(_ input: [UInt8]) {
    decoder.use(make: { makeDecoder() }) { decoder in
      _ = try? decoder.decode(input)
      _ = try? decoder.decodeLost(before: input)
      _ = try? decoder.conceal()
    }
  }

  private static func makeDecoder() -> OpusDecoder {
    do {
      return try OpusDecoder()
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
