import Testing
import Wire

@testable import Codecs

@Suite struct TemporalPatternTests {
  private func layers(_ count: Int, of pattern: inout TemporalPattern, firstIsKeyFrame: Bool) -> [Int] {
    (0..<count).map { index in
      let isKeyFrame = firstIsKeyFrame && index == 0
      let step = pattern.next(isKeyFrame: isKeyFrame)
      pattern.advance(isKeyFrame: isKeyFrame)
      return step.layer
    }
  }

  @Test func theFirstKeyFrameIsMadeSharpByTheBaseLayerAlone() {
    var pattern = TemporalPattern(layers: 2)
    #expect(layers(21, of: &pattern, firstIsKeyFrame: true) == Array(repeating: 0, count: 17) + [1, 0, 1, 0])
  }

  /// A key frame on request comes where something gets lost: frames that nothing depends on go on.
  @Test func aKeyFrameOnRequestIsNoReasonForBaseFramesOnly() {
    var pattern = TemporalPattern(layers: 2)
    _ = layers(24, of: &pattern, firstIsKeyFrame: true)
    #expect(layers(9, of: &pattern, firstIsKeyFrame: true) == [0, 1, 0, 1, 0, 1, 0, 1, 0])
    #expect(layers(3, of: &pattern, firstIsKeyFrame: true) == [0, 1, 0])
  }
}

@Suite struct EncoderClockTests {
  /// In the dark a camera delivers fewer pictures than were asked for.
  @Test(arguments: [(60, 10.0), (30, 10.0), (30, 5.0), (15, 5.0), (30, 30.0), (5, 2.0)])
  func theRateIsThatOfTheCameraAfterAWhile(asked: Int, delivered: Double) {
    var clock = EncoderClock(framesPerSecond: asked)
    var last: (presentation: Int64, duration: Int64) = (0, 0)
    var distance: Int64 = 0
    for number in 0..<100 {
      let next = clock.advance(to: .zero + .seconds(Double(number) / delivered))
      distance = next.presentation - last.presentation
      last = next
    }
    #expect(abs(Double(distance) * delivered / 1e6 - 1) < 0.01)
    #expect(abs(Double(last.duration) * delivered / 1e6 - 1) < 0.01)
  }

  @Test func onePauseIsNotTheBudgetOfOnePicture() {
    var clock = EncoderClock(framesPerSecond: 30)
    for number in 0..<30 { _ = clock.advance(to: .zero + .seconds(Double(number) / 30)) }
    let before = clock.advance(to: .zero + .seconds(1))
    let after = clock.advance(to: .zero + .seconds(100))
    #expect(after.presentation - before.presentation < 60_000)
  }
}
