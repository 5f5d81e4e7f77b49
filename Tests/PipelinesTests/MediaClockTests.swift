import Frames
import Testing
import Wire

@testable import Pipelines

@Suite struct MediaClockTests {
  private static func block(_ position: UInt64, at milliseconds: Int) -> AudioBlock {
    AudioBlock(
      samples: [Int16](repeating: 0, count: AudioFormat.samplesPerBlock),
      captureTime: .zero + .milliseconds(milliseconds), samplePosition: position)
  }

  @Test func followsTheSourceAndItsGaps() {
    var clock = MediaClock()
    #expect(clock.position(of: Self.block(0, at: 0)) == 0)
    #expect(clock.position(of: Self.block(960, at: 20)) == 960)
    #expect(clock.position(of: Self.block(48_000, at: 1000)) == 48_000)
  }

  @Test func goesOnWhenTheSourceIsOpenedAnew() {
    var clock = MediaClock()
    _ = clock.position(of: Self.block(0, at: 0))
    _ = clock.position(of: Self.block(960, at: 20))
    // 1960 ms after the end of the last block.
    #expect(clock.position(of: Self.block(0, at: 2000)) == 96_000)
    #expect(clock.position(of: Self.block(960, at: 2020)) == 96_960)
    #expect(clock.position(of: Self.block(0, at: 3000)) == 144_000)
  }

  @Test func neverRunsBackwards() {
    var clock = MediaClock()
    _ = clock.position(of: Self.block(0, at: 100))
    // The other card is earlier by its clock.
    #expect(clock.position(of: Self.block(0, at: 90)) == 960)
  }
}
