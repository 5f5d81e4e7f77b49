import Testing

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
