import RTP
import RTPSending
import TestSupport
import Testing
import Wire

/// A peer that has receiver reports and REMB, and no transport-wide feedback.
@Suite struct ReceiverMaximumTests {
  /// A receiver that estimates as those of libwebrtc and aiortc do: from what arrives and from queues.
  private struct Receiver {
    var estimate: Double?
    var hasQueue = false
    private var arrivals: [(at: Instant, bytes: Int, delay: Double)] = []

    mutating func add(at: Instant, bytes: Int, sentAt: Instant) {
      arrivals.append((at, bytes, (at - sentAt).inMilliseconds))
    }

    /// Each half second.
    mutating func report(now: Instant) -> Double? {
      arrivals.removeAll { now - $0.at > .seconds(1) }
      let known = arrivals.filter { $0.at <= now }
      let arriving = Double(known.reduce(0) { $0 + $1.bytes }) * 8
      hasQueue = (known.suffix(10).map(\.delay).min() ?? 0) > 60
      guard now >= .zero + .seconds(3) || hasQueue else { return nil }
      let before = estimate ?? arriving
      estimate =
        hasQueue ? min(before, 0.85 * arriving) : min(before * 1.04, max(before, 1.5 * arriving + 10_000))
      return estimate
    }
  }

  private struct Call {
    var rig: Rig
    var link: Bottleneck
    var cameraKbps = 4000.0
    var hasREMB = true
    var now = Instant.zero
    var queue = 0.0
    private var receiver = Receiver()
    private var random = SeededGenerator(seed: 3)
    private var handled = 0
    private var highest: UInt16 = 0
    private var arrived = 0
    private var reported: (highest: UInt16, arrived: Int)?
    private var first: UInt16?

    init(start: Int = 1500, link: Bottleneck) {
      var configuration = RTPSenderConfiguration()
      configuration.startBitrateKbps = start
      configuration.minimumBitrateKbps = 30
      configuration.maximumBitrateKbps = 5000
      rig = Rig(configuration: configuration, transportCC: false, remb: true)
      self.link = link
    }

    var targetKbps: Int { rig.sender.targetKbps }

    mutating func run(for duration: Duration, each body: (inout Call) -> Void = { _ in }) {
      let end = now + duration
      while now < end {
        body(&self)
        tick(Int((now - .zero).inMilliseconds.rounded()))
        now += .milliseconds(1)
      }
    }

    private mutating func tick(_ step: Int) {
      if let deadline = rig.sender.nextDeadline, deadline <= now { rig.sender.handleTimeout(now: now) }
      if step % 20 == 0 { rig.sendAudio(at: now) }
      if step % 33 == 0 {
        let bytes = Int(min(cameraKbps, Double(max(50, targetKbps - 60))) * 33 / 8)
        let count = (bytes + 1099) / 1100
        rig.sendVideo(packets: count, size: bytes / count, at: now, isKeyFrame: step == 0)
      }
      rig.drain(at: now)
      for (_, packet, bytes) in rig.packets[handled...] {
        let isVideo = packet.header.ssrc == videoSSRC
        if isVideo, first == nil { first = packet.header.sequenceNumber }
        guard let arrival = link.transmit(bytes: bytes.count, at: now, random: &random) else { continue }
        queue = (arrival - now).inMilliseconds
        receiver.add(at: arrival, bytes: bytes.count, sentAt: now)
        guard isVideo else { continue }
        highest = packet.header.sequenceNumber
        arrived += 1
      }
      handled = rig.packets.count
      if step % 500 == 250 { reportMaximum() }
      if step % 1000 == 750 { reportLoss() }
    }

    private mutating func reportMaximum() {
      guard hasREMB, let rate = receiver.report(now: now) else { return }
      let remb = RTCPReceiverEstimatedMaximumBitrate(
        senderSSRC: peerSSRC, bitsPerSecond: UInt64(rate), sources: [audioSSRC, videoSSRC])
      rig.sender.handle(rtcp: [.receiverEstimatedMaximumBitrate(remb)], now: now)
    }

    private mutating func reportLoss() {
      defer { reported = (highest, arrived) }
      let before = reported ?? ((first ?? highest) &- 1, 0)
      let expected = Int(highest &- before.highest)
      let lost = max(0, expected - (arrived - before.arrived))
      let block = RTCPReportBlock(
        ssrc: videoSSRC, fractionLost: UInt8(clamping: expected > 0 ? lost * 256 / expected : 0),
        extendedHighestSequenceNumber: UInt32(highest))
      rig.sender.handle(
        rtcp: [.receiverReport(RTCPReceiverReport(ssrc: peerSSRC, reportBlocks: [block]))], now: now)
    }
  }

  @Test func onAWidePathTheEstimateBeginsAsConfiguredAndGrows() {
    var call = Call(link: Bottleneck(bitsPerSecond: 50_000_000))
    var least = Int.max
    call.run(for: .seconds(20)) { least = min(least, $0.targetKbps) }
    #expect(least == 1500)
    #expect(call.targetKbps > 3000)
  }

  /// The receiver has seen little, so it reports little; that is not what the path carries.
  @Test func aStillPictureIsNotTakenForANarrowPath() {
    var call = Call(link: Bottleneck(bitsPerSecond: 50_000_000))
    call.cameraKbps = 200
    call.run(for: .seconds(20))
    #expect(call.targetKbps >= 1500)
    call.cameraKbps = 1400
    var least = Int.max
    call.run(for: .seconds(20)) { least = min(least, $0.targetKbps) }
    #expect(least >= 1300, "\(least)")
  }

  @Test(arguments: [300_000.0, 700_000, 1_500_000])
  func aNarrowPathIsFoundAndItsQueueStaysShort(bitsPerSecond: Double) {
    var call = Call(link: Bottleneck(bitsPerSecond: bitsPerSecond))
    call.run(for: .seconds(15))
    var (most, queued, ticks) = (0, 0.0, 0.0)
    call.run(for: .seconds(30)) { call in
      most = max(most, call.targetKbps)
      queued += call.queue
      ticks += 1
    }
    #expect(Double(call.targetKbps) * 1000 > bitsPerSecond * 0.4, "\(call.targetKbps)")
    #expect(Double(most) * 1000 < bitsPerSecond * 1.5, "\(most)")
    #expect(queued / ticks < 150, "\(queued / ticks)")
  }

  @Test func aPathThatIsWideAgainIsUsedAgain() {
    var call = Call(link: Bottleneck(bitsPerSecond: 5_000_000))
    call.run(for: .seconds(10))
    call.link.bitsPerSecond = 500_000
    call.run(for: .seconds(15))
    #expect(call.targetKbps < 700, "\(call.targetKbps)")
    call.link.bitsPerSecond = 5_000_000
    call.run(for: .seconds(40))
    #expect(call.targetKbps > 1500, "\(call.targetKbps)")
  }

  /// After a dip the receiver's own estimate rises no further than what it sees allows.
  @Test func aStillPictureDoesNotKeepABoundForEver() {
    var call = Call(link: Bottleneck(bitsPerSecond: 300_000))
    call.run(for: .seconds(15))
    #expect(call.targetKbps < 450)
    call.link.bitsPerSecond = 5_000_000
    call.cameraKbps = 150
    call.run(for: .seconds(60))
    #expect(call.targetKbps > 1000, "\(call.targetKbps)")
  }

  /// A radio that loses packets: REMB says that there is no queue.
  @Test(arguments: [0.05, 0.15]) func lossWithoutAQueueLowersNothing(loss: Double) {
    var call = Call(link: Bottleneck(bitsPerSecond: 50_000_000))
    call.link.loss = loss
    call.cameraKbps = 1200
    call.run(for: .seconds(30))
    // A look whether less is lost at a lower rate may be under way.
    var sum = 0.0
    call.run(for: .seconds(10)) { sum += Double($0.targetKbps) / 10_000 }
    #expect(sum >= 1000, "\(sum)")
  }

  @Test func withoutREMBItIsFoundOutAsWell() {
    var call = Call(link: Bottleneck(bitsPerSecond: 50_000_000))
    call.hasREMB = false
    call.link.loss = 0.15
    call.run(for: .seconds(40))
    #expect(call.targetKbps >= 1200, "\(call.targetKbps)")
  }

  /// What a peer sets as its limit, whatever the path carries.
  @Test func aLimitThatIsSetIsKept() {
    var call = Call(link: Bottleneck(bitsPerSecond: 50_000_000))
    call.hasREMB = false
    call.run(for: .seconds(30)) { call in
      guard call.now.nanoseconds % 1_000_000_000 == 0 else { return }
      let remb = RTCPReceiverEstimatedMaximumBitrate(
        senderSSRC: peerSSRC, bitsPerSecond: 600_000, sources: [videoSSRC])
      call.rig.sender.handle(rtcp: [.receiverEstimatedMaximumBitrate(remb)], now: call.now)
    }
    #expect(call.targetKbps <= 900 && call.targetKbps >= 500, "\(call.targetKbps)")
  }
}
