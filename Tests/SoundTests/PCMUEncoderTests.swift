import Foundation
import Frames
import Testing
import Wire

@testable import Sound

@Suite struct PCMUEncoderTests {
  /// As Python's `audioop.lin2ulaw` has them.
  @Test func samplesAreEncodedByG711() {
    let known: [(Int16, UInt8)] = [
      (0, 255), (4, 254), (-4, 126), (8, 254), (100, 242), (-100, 114), (1000, 206), (-1000, 78), (8032, 160),
      (-8032, 32), (20000, 140), (-20000, 12), (32124, 128), (32767, 128), (-32768, 0),
    ]
    for (sample, byte) in known { #expect(PCMUEncoder.encode(sample) == byte, "\(sample)") }
  }

  /// A second of a tone, at a sixth of the rate; one above 4 kHz is kept out.
  @Test(arguments: [(1000.0, 0.7...1.0), (6000.0, 0.0...0.01)])
  func aToneComesThroughAtALowerRate(hertz: Double, expected: ClosedRange<Double>) throws {
    let encoder = try #require(PCMUEncoder())
    var bytes: [UInt8] = []
    for block in 0..<50 {
      let samples = (0..<960).map { index in
        Int16(20_000 * sin(2 * Double.pi * hertz * Double(block * 960 + index) / 48_000))
      }
      let encoded = encoder.encode(
        AudioBlock(samples: samples, captureTime: .zero, samplePosition: UInt64(block * 960)))
      #expect(encoded.count == 160)
      bytes += encoded
    }
    // The other way, ITU-T G.711.
    let decoded = bytes.dropFirst(800).map { byte in
      let bits = Int(~byte)
      let magnitude = ((bits & 0xf) << 3 + 132) << (bits >> 4 & 7) - 132
      return bits & 0x80 == 0 ? magnitude : -magnitude
    }
    let peak = Double(decoded.map(abs).max() ?? 0) / 20_000
    #expect(expected.contains(peak), "\(peak)")
    if hertz == 1000 {
      let crossings = zip(decoded, decoded.dropFirst()).count { $0 < 0 && $1 >= 0 }
      #expect((898...902).contains(crossings), "\(crossings)")
    }
  }
}
