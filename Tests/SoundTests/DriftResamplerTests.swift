import Glibc
import Sound
import Testing

@Suite struct DriftResamplerTests {
  private static func tone(_ index: Int) -> Int16 {
    Int16((8000 * sin(2 * .pi * 1000 * Double(index) / 48_000)).rounded())
  }

  /// 20 s of a tone, the rate set anew each second.
  private func resampled(by partsPerBillion: Int64) throws -> [Int16] {
    let resampler = try #require(DriftResampler())
    var result: [Int16] = []
    for block in 0..<1000 {
      if block % 50 == 0 { resampler.setRate(partsPerBillion) }
      result += resampler.process((0..<960).map { Self.tone(block * 960 + $0) })
    }
    return result
  }

  @Test(arguments: [Int64(0), 50_000, -50_000, 200_000, -7_000])
  func asMuchComesOutAsTheRateSays(partsPerBillion: Int64) throws {
    let result = try resampled(by: partsPerBillion)
    let expected = 960_000 * (1 - Double(partsPerBillion) / 1e9)
    // The filter keeps 24 samples, and a fraction that is not in force yet is worth less than one.
    #expect(abs(Double(result.count) - expected) < 30, "\(result.count)")
  }

  /// A sine's second difference is as small as the sine times (2π/48)²; a seam is far above that.
  @Test(arguments: [Int64(0), 100_000, -100_000])
  func nothingIsHeardOfIt(partsPerBillion: Int64) throws {
    let result = try resampled(by: partsPerBillion).dropFirst(480)
    let values: [Double] = result.map { Double($0) }
    var bend = 0.0
    var power = 0.0
    for index in 1..<values.count - 1 {
      let second: Double = values[index - 1] - 2 * values[index] + values[index + 1]
      bend = max(bend, abs(second))
      power += values[index] * values[index]
    }
    #expect(bend < 8000 * 0.0172 + 6, "\(bend)")
    let effective = (power / Double(values.count)).squareRoot()
    #expect(abs(effective - 5657) < 60, "\(effective)")
  }

  @Test func silenceStaysSilenceAndNothingStaysNothing() throws {
    let resampler = try #require(DriftResampler())
    #expect(resampler.process([Int16](repeating: 0, count: 960)).allSatisfy { $0 == 0 })
    #expect(resampler.process([]).isEmpty)
  }
}
