import RTP
import TestSupport
import Testing
import Wire

@testable import RTPSending

/// A path that loses so much that feedback about it is lost as well.
@Suite struct HeavyLossTests {
  /// A call with a good path for some seconds, which then loses this share both ways.
  private static func call(loss: Double, seed: UInt64 = 1) -> Call {
    var call = Call(rig: Rig(seed: seed), link: Bottleneck(bitsPerSecond: 5_000_000))
    call.random = SeededGenerator(seed: seed)
    call.link.delay = .milliseconds(10)
    call.cameraKbps = 1500
    call.run(for: .seconds(10))
    (call.link.loss, call.feedbackLoss) = (loss, loss)
    return call
  }

  /// When a packet that repeats one of the picture went out.
  private static func repeats(_ call: Call) -> [Instant] {
    call.rig.packets.filter { $0.packet.header.ssrc == rtxSSRC && !$0.packet.payload.isEmpty }.map(\.at)
  }

  /// Nobody asks: there are no NACKs in this call.
  @Test(arguments: 1...3) func withAFifthLostBothWaysAllOfThePictureArrivesSoon(seed: UInt64) {
    var call = Self.call(loss: 0.2, seed: seed)
    // Once it has been looked into: sending less makes no difference.
    call.run(for: .seconds(8))
    let before = call.pictures.count
    call.run(for: .seconds(61))
    let delays = call.pictureDelays().dropFirst(before)
    #expect(delays.count > 10_000)
    #expect(delays.count { $0 > 250 } * 250 < delays.count, "\(delays.count { $0 > 250 })")
    // After that long a silence a key frame makes good what is missing.
    #expect(delays.count { $0 > 500 } <= 2, "\(delays.max() ?? 0)")
    #expect(Self.repeats(call).count < call.pictures.count)
  }

  @Test func whereNoFeedbackComesAtAllNothingIsSentAgain() {
    var call = Self.call(loss: 0.2)
    call.run(for: .seconds(5))
    call.feedbackLoss = 1
    call.run(for: .milliseconds(800))
    let before = Self.repeats(call).count
    call.run(for: .milliseconds(500))
    #expect(Self.repeats(call).count == before)
  }

  @Test func whereLittleIsLostMissingFeedbackIsWaitedFor() {
    var call = Self.call(loss: 0)
    call.run(for: .seconds(5))
    call.feedbackLoss = 1
    call.run(for: .milliseconds(400))
    call.feedbackLoss = 0
    call.run(for: .seconds(1))
    #expect(Self.repeats(call).isEmpty)
  }
}
