import RTP
import RTPSending
import Testing
import Wire

@testable import RTPReceiving

/// Our sender and our receiver over paths of the bad kind.
@Suite struct CallTests {
  @Test(arguments: [UInt64(1), 2, 3]) func everyFrameComesThroughATenthLost(seed: UInt64) throws {
    var call = ReceivingCall(path: BadPath(loss: 0.1, reordering: 0.05, duplication: 0.05), seed: seed)
    call.videoKbps = 1500
    // Both counters wrap in the third second.
    let first = try firstNumbers(seed: seed)
    call.sequenceShift = 0 &- first.sequenceNumber &- 400
    call.timestampShift = 0 &- first.timestamp &- 180_000
    call.run(for: .seconds(8)) { call in
      if call.now == .seconds(1) { call.rig.receiver.noteRoundTripTime(.milliseconds(20)) }
    }
    let received = call.rig.frames.map(\.frame.payload)
    // Of the last one, nobody can know that its end is missing.
    let isIntact = received == call.sent.prefix(received.count).map(\.frame) && received.count >= call.sent.count - 1
    #expect(isIntact)
    #expect(call.rig.video.framesDropped == 0 && call.rig.video.framesReceived == UInt64(received.count))
    #expect(call.rig.video.pliCount <= 2)
    // What is lost comes a round trip later, or a few.
    let delays = zip(call.rig.frames, call.sent).map { ($0.at - $1.at).inMilliseconds }.sorted()
    #expect(delays[delays.count / 2] < 45 && delays[delays.count * 95 / 100] < 130)
    let statistics = call.rig.video
    let fraction = Double(statistics.packetsLost) / Double(statistics.packetsReceived)
    #expect((0.06...0.15).contains(fraction) && statistics.duplicatePackets > 30)
    #expect(statistics.retransmittedPacketsReceived > 80)
    let roundTrip = try #require(call.sender.statistics()[1].roundTripTime)
    #expect((0.018...0.035).contains(roundTrip))
    #expect(call.rig.sound.count > 400)
  }

  /// Sequence number and timestamp of the first video packet of a sender with this seed.
  private func firstNumbers(seed: UInt64) throws -> RTPHeader {
    var call = ReceivingCall(path: BadPath(), seed: seed)
    call.sender.send(
      payloads: [[0x10, 0]], ssrc: videoSSRC, mediaTime: 0, captureTime: .zero, marksLast: true, now: .zero)
    while let output = call.sender.poll(now: .zero) {
      if case .rtp(let bytes) = output { return try RTPPacket(parsing: bytes).header }
    }
    throw WireError.truncated
  }

  @Test func onAGoodPathNothingIsAskedForAndNothingIsHeld() {
    var call = ReceivingCall(path: BadPath())
    call.videoKbps = 1500
    call.run(for: .seconds(5))
    let isIntact = call.rig.frames.map(\.frame.payload) == call.sent.map(\.frame)
    #expect(isIntact)
    #expect(call.rig.nacks.isEmpty && call.rig.keyFrameRequests.isEmpty)
    let delays = zip(call.rig.frames, call.sent).map { ($0.at - $1.at).inMilliseconds }
    // The path, and the pace of the key frame.
    #expect(delays.allSatisfy { $0 < 20 })
    #expect(call.rig.video.packetsLost == 0 && call.rig.video.jitter < 0.003)
  }

  @Test func theSendersEstimateFollowsOurFeedback() {
    // A queue without loss: only the times of arrival tell.
    var call = ReceivingCall(path: BadPath(bitsPerSecond: 1_000_000))
    call.run(for: .seconds(20))
    #expect((500...1150).contains(call.targetKbps))
    #expect(call.rig.video.pliCount <= 1)
  }

  @Test func theSendersEstimateGrowsOnAGoodPath() {
    var call = ReceivingCall(path: BadPath())
    call.run(for: .seconds(6))
    #expect(call.targetKbps > 2500)
    #expect(!call.rig.feedback.isEmpty)
  }

  @Test func lostUpperLayersCostNoWaitingAndNoKeyFrames() {
    var call = ReceivingCall(path: BadPath(loss: 0.05))
    call.path.delay = .milliseconds(60)
    call.rig = ReceiverRig(audio: .audio(), roundTrip: 120)
    call.temporalLayers = 2
    call.videoKbps = 600
    call.run(for: .seconds(10))
    let received = call.rig.frames.map(\.frame.payload)
    let sent = call.sent.map(\.frame)
    // In order and unbroken; all of the base layer is there, and most of the upper one.
    var position = sent.startIndex
    for frame in received {
      guard let found = sent[position...].firstIndex(of: frame) else {
        Issue.record("a frame that was not sent, or out of order")
        return
      }
      position = found + 1
    }
    let base = Set(stride(from: 0, to: sent.count, by: 2).map { sent[$0] })
    #expect(received.count { base.contains($0) } >= base.count - 2)
    #expect(received.count > sent.count * 7 / 10)
    #expect(call.rig.video.pliCount <= 2)
  }

  @Test func afterAnOutageThePictureIsBackSoon() throws {
    var call = ReceivingCall(path: BadPath())
    call.videoKbps = 1500
    call.rig.receiver.noteRoundTripTime(.milliseconds(20))
    call.run(for: .seconds(8)) { call in
      call.path.loss = (Instant.seconds(3)..<Instant.seconds(5)).contains(call.now) ? 1 : 0
    }
    let back = try #require(call.rig.frames.first { $0.at >= .seconds(5) })
    #expect(back.at <= .seconds(5) + .milliseconds(150) && back.frame.isKeyFrame)
    let others = call.rig.frames.filter { $0.at > back.at }
    #expect(others.count > 80)
    #expect((1...2).contains(call.rig.video.pliCount))
  }

  @Test func aPathThatLosesALotNeitherStormsNorShowsBrokenPictures() {
    var call = ReceivingCall(path: BadPath(loss: 0.5))
    call.videoKbps = 800
    call.run(for: .seconds(10))
    let sent = Set(call.sent.map(\.frame))
    #expect(call.rig.frames.allSatisfy { sent.contains($0.frame.payload) })
    #expect(call.rig.video.pliCount < 40)
    #expect(call.rig.nacks.count < 2000)
  }
}
