import Frames
import Testing
import Wire

@testable import Pipelines

@Suite struct PreRollTests {
  private func frame(at milliseconds: Int, isKey: Bool = false, bytes: Int = 100) -> EncodedMedia {
    .video(
      EncodedVideoFrame(
        data: [UInt8](repeating: 0, count: bytes), captureTime: .zero + .milliseconds(milliseconds), isKeyFrame: isKey,
        temporalLayer: 0, isLayerSync: false, width: 2, height: 2))
  }

  private func packet(at milliseconds: Int) -> EncodedMedia {
    .audio(EncodedAudioPacket(data: [1], captureTime: .zero + .milliseconds(milliseconds), samplePosition: 0))
  }

  /// Key frames each 5 s, pictures each 100 ms, sound each 20 ms.
  private func run(_ preRoll: inout PreRoll, seconds: Int) {
    for time in stride(from: 0, to: seconds * 1000, by: 20) {
      if time % 100 == 0 { preRoll.add(frame(at: time, isKey: time % 5000 == 0)) }
      preRoll.add(packet(at: time))
    }
  }

  private func times(_ items: [EncodedMedia]) -> [Int] {
    items.map { Int(($0.captureTime - .zero).nanoseconds / 1_000_000) }
  }

  private func isKeyFrame(_ item: EncodedMedia?) -> Bool {
    if case .video(let frame)? = item { frame.isKeyFrame } else { false }
  }

  @Test func itBeginsWithTheKeyFrameBeforeItsSpan() {
    var preRoll = PreRoll(span: .seconds(15), hasVideo: true)
    run(&preRoll, seconds: 62)
    let items = preRoll.takeAll()
    #expect(isKeyFrame(items.first))
    // 61.98 s - 15 s lies in the group that begins at 45 s.
    #expect(times(items).first == 45_000)
    #expect(times(items).last == 61_980)
    #expect(times(items) == times(items).sorted())
  }

  @Test func afterItWasTakenItIsEmpty() {
    var preRoll = PreRoll(span: .seconds(15), hasVideo: true)
    run(&preRoll, seconds: 10)
    #expect(!preRoll.takeAll().isEmpty)
    #expect(preRoll.takeAll().isEmpty)
  }

  @Test func nothingBeforeTheFirstKeyFrameIsKept() {
    var preRoll = PreRoll(span: .seconds(15), hasVideo: true)
    preRoll.add(frame(at: 0))
    preRoll.add(packet(at: 10))
    preRoll.add(frame(at: 100, isKey: true))
    #expect(times(preRoll.takeAll()) == [100])
  }

  @Test func soundAloneIsKept() {
    var preRoll = PreRoll(span: .seconds(15), hasVideo: false)
    for time in stride(from: 0, to: 60_000, by: 20) { preRoll.add(packet(at: time)) }
    let first = times(preRoll.takeAll()).first ?? 0
    #expect((43_900...44_980).contains(first))
  }

  @Test func itsMemoryIsBounded() {
    var preRoll = PreRoll(span: .seconds(15), hasVideo: true, maximumBytes: 10_000)
    // A camera of which no key frame comes any more.
    preRoll.add(frame(at: 0, isKey: true))
    for time in 1..<1000 { preRoll.add(frame(at: time)) }
    #expect(preRoll.takeAll().map(\.byteCount).reduce(0, +) <= 10_000)
  }
}
