import RTP
import RTPSending
import TestSupport
import Testing
import Wire

@Suite struct BandwidthTests {
  @Test func estimateFallsToABottleneckAndKeepsItsQueueShort() {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 1_000_000))
    call.run(for: .seconds(4))
    #expect(call.targetKbps < 1100)
    var least = Int.max
    var most = 0
    call.run(for: .seconds(10)) { call in
      least = min(least, call.targetKbps)
      most = max(most, call.targetKbps)
    }
    #expect(least > 550)
    #expect(most < 1350)
    #expect(call.meanLatency(last: .seconds(8)) < 120)
  }

  @Test func estimateRisesToTheLinksRate() {
    var configuration = RTPSenderConfiguration()
    configuration.startBitrateKbps = 300
    var call = Call(rig: Rig(configuration: configuration), link: Bottleneck(bitsPerSecond: 2_500_000))
    call.run(for: .seconds(14))
    #expect(call.targetKbps > 1700)
    #expect(call.targetKbps < 3000)
    #expect(call.meanLatency(last: .seconds(5)) < 120)
  }

  @Test func estimateRecoversWhenTheBottleneckGoes() {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 20_000_000))
    call.run(for: .seconds(5))
    #expect(call.targetKbps > 2000)
    call.link.bitsPerSecond = 500_000
    call.run(for: .seconds(8))
    #expect(call.targetKbps < 620)
    call.link.bitsPerSecond = 20_000_000
    call.run(for: .seconds(15))
    #expect(call.targetKbps > 1500)
  }

  /// Scheduling hiccups and radio jitter look like queues for a moment.
  @Test(arguments: [UInt64(1), 2])
  func jitterAndStallsDoNotLowerTheEstimate(seed: UInt64) {
    var link = Bottleneck(bitsPerSecond: 200_000_000)
    link.delay = .microseconds(100)
    link.jitterMilliseconds = 15
    var call = Call(rig: Rig(seed: seed), link: link)
    call.cameraKbps = 1200
    var random = SeededGenerator(seed: seed)
    var least = Int.max
    call.run(for: .seconds(12)) { call in
      if Int.random(in: 0..<400, using: &random) == 0 {
        call.link.stalledUntil = call.now + .milliseconds(Int.random(in: 10...80, using: &random))
      }
      least = min(least, call.targetKbps)
    }
    #expect(least >= 1400)
  }

  /// A busy machine that does not read its socket for a while: everything is late, and then everything is there.
  @Test(arguments: [UInt64(1), 2, 3, 4], [5_000_000.0, 50_000_000])
  func aReceiverThatStandsStillForAMomentDoesNotLowerTheEstimate(seed: UInt64, bitsPerSecond: Double) {
    var link = Bottleneck(bitsPerSecond: bitsPerSecond)
    link.queueMilliseconds = 2000
    link.loss = 0.05
    var call = Call(rig: Rig(seed: seed), link: link)
    call.cameraKbps = 1400
    var random = SeededGenerator(seed: seed)
    call.run(for: .seconds(5))
    var least = Int.max
    for _ in 0..<40 {
      call.link.stalledUntil = call.now + .milliseconds(Int.random(in: 100...900, using: &random))
      call.run(for: .milliseconds(Int.random(in: 1800...2200, using: &random))) { least = min(least, $0.targetKbps) }
    }
    // A look at the loss is a step to 85 % of what arrives.
    #expect(least >= 600)
  }

  @Test func aStillPictureNeitherRaisesNorLowersTheEstimate() {
    var configuration = RTPSenderConfiguration()
    configuration.usefulBitrateKbps = configuration.startBitrateKbps
    var call = Call(rig: Rig(configuration: configuration), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.cameraKbps = 120
    call.run(for: .seconds(10))
    #expect(call.targetKbps == 1500)
  }

  /// A radio loses packets on a path that is anything but full: sending less would not help, which a look now and then confirms.
  @Test(arguments: [0.1, 0.2], [1.0, 3])
  func lossWithoutAQueueCostsNoMoreThanALook(loss: Double, meanBurst: Double) throws {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.link.bursts = GilbertLoss(rate: loss, meanBurst: meanBurst)
    call.feedbackLoss = loss
    call.link.jitterMilliseconds = 8
    call.cameraKbps = 1400
    var low = 0
    call.run(for: .seconds(60)) { low += $0.targetKbps < 1200 ? 1 : 0 }
    #expect(low < 20_000, "milliseconds")
    // Nor is anything held back.
    let video = call.rig.sender.statistics()[1]
    #expect(video.totalPacketSendDelay / Double(video.packetsSent) < 0.01)
    #expect(video.framesDropped == 0)
  }

  @Test func afterABadSpellTheRateIsThereThoughLossGoesOn() {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.link.loss = 0.5
    call.run(for: .seconds(10))
    call.link.loss = 0.1
    call.run(for: .seconds(20))
    #expect(call.targetKbps > 1500)
  }

  /// A short buffer that overflows: here loss means that less is to be sent.
  @Test func lossBehindAQueueLowers() {
    var link = Bottleneck(bitsPerSecond: 700_000)
    link.queueMilliseconds = 80
    var call = Call(rig: Rig(), link: link)
    call.run(for: .seconds(6))
    #expect(call.targetKbps < 900)
  }

  @Test func silenceLowersTheEstimateStepByStep() {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.run(for: .seconds(3))
    let before = call.targetKbps
    call.link.isDown = true
    call.run(for: .seconds(3))
    #expect(call.targetKbps < before * 6 / 10)
    #expect(call.targetKbps >= 100)
    call.link.isDown = false
    call.run(for: .seconds(8))
    #expect(call.targetKbps > before * 8 / 10)
  }

  @Test func changesAreAnnouncedButNotEachOne() {
    var configuration = RTPSenderConfiguration()
    configuration.usefulBitrateKbps = configuration.startBitrateKbps
    var call = Call(rig: Rig(configuration: configuration), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.run(for: .seconds(5))
    let announced = call.rig.targets.map(\.kbps)
    #expect(announced.count > 5 && announced.count < 60)
    #expect(zip(announced, announced.dropFirst()).allSatisfy { $0 < $1 })
    #expect(abs(announced.last! - call.targetKbps) * 20 <= call.targetKbps)
  }

  @Test func receiversMaximumCapsTheEstimateOnlyWithoutTransportFeedback() {
    let estimate = RTCPPacket.receiverEstimatedMaximumBitrate(
      RTCPReceiverEstimatedMaximumBitrate(senderSSRC: peerSSRC, bitsPerSecond: 600_000, sources: [videoSSRC]))
    var rig = Rig(transportCC: false, remb: true)
    rig.sender.handle(rtcp: [estimate], now: .milliseconds(10))
    rig.drain(at: .milliseconds(10))
    #expect(rig.sender.targetKbps == 600)
    #expect(rig.targets.map(\.kbps) == [600])

    var other = Rig(transportCC: false, remb: false)
    other.sender.handle(rtcp: [estimate], now: .milliseconds(10))
    #expect(other.sender.targetKbps == 1500)

    var call = Call(rig: Rig(remb: true), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.run(for: .seconds(1))
    call.rig.sender.handle(rtcp: [estimate], now: call.now)
    #expect(call.targetKbps >= 1400)
  }

  @Test func receiverReportsLowerTheEstimateWithoutOtherFeedback() {
    var rig = Rig(transportCC: false)
    // A path of 500 kbit/s that drops the rest.
    for second in 0..<10 {
      let lost = max(0, 1 - 500 / Double(rig.sender.targetKbps))
      let block = RTCPReportBlock(
        ssrc: videoSSRC, fractionLost: UInt8(lost * 256), extendedHighestSequenceNumber: UInt32(second * 200 + 1))
      rig.sender.handle(
        rtcp: [.receiverReport(RTCPReceiverReport(ssrc: peerSSRC, reportBlocks: [block]))],
        now: .milliseconds(second * 1000))
    }
    #expect(rig.sender.targetKbps < 600)
  }

  @Test func inventedFeedbackDoesNoHarm() {
    var rig = Rig()
    var random = SeededGenerator(seed: 5)
    for round in 0..<300 {
      let now = Instant.milliseconds(round * 20)
      rig.sendVideo(at: now)
      rig.sendAudio(at: now)
      rig.drain(at: now)
      let statuses = (0..<Int.random(in: 1...400, using: &random)).map { _ in
        Bool.random(using: &random)
          ? RTCPTransportFeedback.PacketStatus.notReceived
          : .received(delta: .random(in: .min ... .max, using: &random))
      }
      let feedback = RTCPTransportFeedback(
        senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: .random(in: 0...65535, using: &random),
        referenceTime: .random(in: 0...0xff_ffff, using: &random), feedbackCount: 0, statuses: statuses)
      rig.sender.handle(rtcp: [.transportFeedback(feedback), .transportFeedback(feedback)], now: now)
      rig.run(until: now)
    }
    #expect((40...8000).contains(rig.sender.targetKbps))
  }
}
