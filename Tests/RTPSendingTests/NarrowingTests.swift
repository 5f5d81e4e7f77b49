import RTP
import TestSupport
import Testing
import Wire

@testable import RTPSending

/// A path that becomes narrow, and wide again.
@Suite struct NarrowingTests {
  /// A call over 3 Mbit/s that has settled.
  private static func settled(queueMilliseconds: Double, cameraKbps: Double = 2500) -> Call {
    var configuration = RTPSenderConfiguration()
    configuration.usefulBitrateKbps = 3500
    var link = Bottleneck(bitsPerSecond: 3_000_000)
    link.queueMilliseconds = queueMilliseconds
    link.delay = .milliseconds(10)
    var call = Call(rig: Rig(configuration: configuration), link: link)
    call.cameraKbps = cameraKbps
    call.run(for: .seconds(12))
    return call
  }

  /// The 95th percentile of the one-way delay of what is sent within `duration`, milliseconds.
  private static func delay(_ call: inout Call, for duration: Duration) -> Double {
    let before = call.latencies.count
    call.run(for: duration)
    let recent = call.latencies[before...].map(\.milliseconds).sorted()
    return recent.isEmpty ? .infinity : recent[recent.count * 95 / 100]
  }

  @Test(arguments: [(500.0, 2), (2000.0, 4)])
  func theQueueOfAPathThatBecameNarrowIsGoneSoon(queueMilliseconds: Double, seconds: Int) {
    var call = Self.settled(queueMilliseconds: queueMilliseconds)
    call.link.bitsPerSecond = 500_000
    call.run(for: .seconds(seconds))
    for _ in 0..<5 {
      #expect(Self.delay(&call, for: .seconds(1)) < 300)
    }
    #expect((250..<550).contains(call.targetKbps), "\(call.targetKbps)")
  }

  /// What the full queue has lost of larger pictures would come before the smaller one, and be a second late.
  @Test(arguments: [true, false])
  func beforeASmallerPictureNothingOlderIsSentAgain(hasSmaller: Bool) {
    var call = Self.settled(queueMilliseconds: 500, cameraKbps: 1500)
    call.link.bitsPerSecond = 500_000
    while !call.rig.sender.pathStatistics(now: call.now).isCongested { call.run(for: .milliseconds(1)) }
    let missing = call.rig.video.suffix(3).map(\.header.sequenceNumber)
    if hasSmaller { call.encoder = 1 }
    call.run(for: .milliseconds(100))
    call.rig.nack(missing, at: call.now)
    call.run(for: .seconds(1))
    let repeated = call.rig.retransmissions.filter { !$0.payload.isEmpty }
      .map { packet in packet.payload.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) } }
    #expect(Set(missing).isDisjoint(with: repeated) == hasSmaller)
  }

  @Test(arguments: [500_000.0, 200_000])
  func aPathThatIsWideAgainIsUsedSoon(bitsPerSecond: Double) {
    var call = Self.settled(queueMilliseconds: 500)
    call.link.bitsPerSecond = bitsPerSecond
    call.run(for: .seconds(15))
    call.link.bitsPerSecond = 3_000_000
    call.run(for: .seconds(6))
    #expect(call.targetKbps > 2000, "\(call.targetKbps)")
  }

  /// Where packets come a little early or late, a burst that probes the path is easily misread.
  @Test(arguments: [0.0, 5, 10], 1...6 as ClosedRange<UInt64>)
  func jitterDoesNotHideThatThePathIsWideAgain(jitterMilliseconds: Double, seed: UInt64) {
    var call = Self.settled(queueMilliseconds: 500)
    call.link.jitterMilliseconds = jitterMilliseconds
    call.link.bitsPerSecond = 500_000
    // What the next smaller picture takes at most.
    call.cameraKbps = 800
    call.run(for: .seconds(30) + .milliseconds(Int(seed) * 370))
    call.link.bitsPerSecond = 3_000_000
    call.run(for: .seconds(5))
    #expect(call.targetKbps > 1700, "\(call.targetKbps)")
  }

  /// However long nothing got through: the estimate does not fall so far that the viewer loses its picture.
  @Test(arguments: [3, 10, 60])
  func anInterruptedPathIsUsedAsBefore(seconds: Int) {
    var call = Self.settled(queueMilliseconds: 500)
    let before = call.targetKbps
    call.link.isDown = true
    call.run(for: .seconds(3))
    call.run(for: .seconds(seconds - 3))
    #expect(call.targetKbps < before && call.targetKbps >= before * 24 / 100, "\(call.targetKbps) of \(before)")
    call.link.isDown = false
    call.run(for: .seconds(4))
    #expect(call.targetKbps > before * 8 / 10, "\(call.targetKbps) of \(before)")
  }

  /// A detour, or another access point: the delay is that of the path, and no rate would shorten it.
  @Test func aPathThatBecomesLongerIsNotTakenForAQueueForLong() {
    var call = Self.settled(queueMilliseconds: 500, cameraKbps: 1500)
    call.link.bitsPerSecond = 20_000_000
    call.link.delay = .milliseconds(200)
    call.run(for: .seconds(10))
    #expect(call.targetKbps > 1500, "\(call.targetKbps)")
  }

  @Test func aWidePathIsKnownWithinASecondOfTheFirstFeedback() {
    var call = Call(rig: Rig(), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.run(for: .milliseconds(1500))
    #expect(call.targetKbps > 4000, "\(call.targetKbps)")
    let padding = call.rig.retransmissions
    #expect(!padding.isEmpty && padding.allSatisfy { $0.payload.isEmpty && $0.paddingByteCount > 0 })
    // Nor does it count as media.
    let video = call.rig.sender.statistics()[1]
    #expect(video.paddingPacketsSent == UInt64(padding.count) && video.retransmittedPacketsSent == 0)
    #expect(video.packetsSent == UInt64(call.rig.video.count))
  }

  @Test func nothingIsProbedBeyondWhatIsUseful() {
    var configuration = RTPSenderConfiguration()
    configuration.usefulBitrateKbps = 1500
    var call = Call(rig: Rig(configuration: configuration), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.run(for: .seconds(5))
    #expect(call.rig.retransmissions.isEmpty)
  }

  @Test func withoutRTXThereIsNoPadding() {
    var call = Call(rig: Rig(rtx: false), link: Bottleneck(bitsPerSecond: 50_000_000))
    call.run(for: .seconds(5))
    #expect(call.rig.packets.allSatisfy { $0.packet.paddingByteCount == 0 })
    #expect(call.targetKbps > 2000)
  }

  /// At its rate a narrow path gets a probe now and then, which must not delay sound.
  @Test func probesOfANarrowPathDelayLittle() {
    var call = Self.settled(queueMilliseconds: 2000)
    call.link.bitsPerSecond = 300_000
    call.run(for: .seconds(10))
    let before = call.rig.sender.statistics()[1].paddingPacketsSent
    #expect(Self.delay(&call, for: .seconds(30)) < 250)
    #expect(call.rig.sender.statistics()[1].paddingPacketsSent > before)
  }
}
