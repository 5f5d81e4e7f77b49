import PeerConnection
import RTPReceiving
import RTPSending
import Simulation
import Testing
import Wire

@Suite struct RetransmissionBeatsDeadlineTests {
  /// A viewer holds a picture back for its sound by some 100 ms; what comes within that was not late.
  private static let deadline = Duration.milliseconds(100)

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func lostPacketsComeAgainInTime(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true)
    pair.link = .init(delay: .milliseconds(10), jitter: .milliseconds(4), loss: 0.05)
    let start = pair.now
    pair.run(for: .seconds(12))
    let delays = pair.viewer.delays(pair.camera, since: start)
    let statistics = try #require(pair.parent.statistics(now: pair.now).inboundRTP.first)
    Measured.note(
      """
      5 % loss, 20 ms round trip: \(statistics.retransmittedPacketsReceived) sent again, p50 \(delays.percentile(0.5)), \
      p95 \(delays.percentile(0.95)), p99 \(delays.percentile(0.99)), worst \(delays.last!), PLI \(statistics.pliCount)
      """)
    #expect(statistics.retransmittedPacketsReceived >= 20)
    #expect(statistics.pliCount == 0)
    #expect(delays.percentile(0.99) <= Self.deadline)
    #expect(pair.viewer.pictures.map(\.number) == Array(0..<pair.viewer.pictures.count), "none is left out")
    #expect(pair.viewer.brokenPictures == 0)
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func everyPictureComesEvenAtTwentyPercentLoss(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true)
    pair.link = .init(delay: .milliseconds(10), jitter: .milliseconds(4), loss: 0.2)
    let start = pair.now
    pair.run(for: .seconds(12))
    let delays = pair.viewer.delays(pair.camera, since: start)
    Measured.note(
      """
      20 % loss: \(delays.count) of \(pair.camera!.nextNumber) pictures, p50 \(delays.percentile(0.5)), \
      p95 \(delays.percentile(0.95)), worst \(delays.last!), PLI \(pair.pliCount)
      """)
    #expect(pair.viewer.brokenPictures == 0)
    #expect(pair.pliCount <= 3)
    #expect(delays.percentile(0.95) <= .milliseconds(270))
    // The path is not full, so nothing is held back.
    let sent = pair.camera!.sentAt.values.count { $0 >= start }
    #expect(delays.count * 10 >= sent * 9)
    // Less is sent only while the sender checks whether that lowers the loss.
    var highest = 0
    for _ in 0..<16 {
      pair.run(for: .milliseconds(500))
      highest = max(highest, pair.child.statistics(now: pair.now).availableOutgoingKbps)
    }
    #expect(highest >= 800)
  }

  /// What comes late but by itself need not be sent again.
  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func packetsOutOfOrderAreNotTakenForLostForLong(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true)
    pair.toParent = .init(delay: .milliseconds(10), reordering: 0.05)
    pair.toParent.lateness = .milliseconds(6)
    pair.run(for: .seconds(12))
    let sent = try #require(pair.child.statistics(now: pair.now).outboundRTP.first)
    Measured.note("5 % out of order: \(sent.retransmittedPacketsSent) of \(sent.packetsSent) sent again")
    #expect(pair.viewer.brokenPictures == 0 && pair.pliCount == 0)
    #expect(pair.viewer.pictures.map(\.number) == Array(0..<pair.viewer.pictures.count))
    #expect(sent.retransmittedPacketsSent * 50 <= sent.packetsSent)
  }

  @Test func duplicatesAreHandedOutOnce() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.link = .init(delay: .milliseconds(10), jitter: .milliseconds(15), duplication: 1)
    pair.run(for: .seconds(6))
    #expect(pair.viewer.brokenPictures == 0 && pair.viewer.brokenSounds == 0)
    #expect(pair.viewer.pictures.map(\.number) == Array(0..<pair.viewer.pictures.count))
    #expect(try #require(pair.parent.statistics(now: pair.now).inboundRTP.first).duplicatePackets > 150)
  }

  /// 1 Mbit/s for 0.6 Mbit/s of pictures: a key frame queues up, and nothing is lost or asked for.
  @Test func aNarrowPathDelaysAndLosesNothing() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.toParent = .init(delay: .milliseconds(10), bitsPerSecond: 1_000_000)
    let start = pair.now
    pair.parent.requestKeyFrame(decoderFailed: true, now: pair.now)
    pair.drain()
    pair.run(for: .seconds(10))
    let delays = pair.viewer.delays(pair.camera, since: start)
    Measured.note("1 Mbit/s: p50 \(delays.percentile(0.5)), worst \(delays.last!)")
    #expect(delays.last! <= .milliseconds(300))
    #expect(pair.viewer.brokenPictures == 0)
    #expect(pair.pliCount == 1)
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func lostSoundIsMadeUpWithoutAHole(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true)
    pair.link = .init(delay: .milliseconds(10), loss: 0.05)
    let (sounds, concealments) = (pair.viewer.sounds.count, pair.viewer.concealments)
    pair.run(for: .seconds(12))
    let (played, made) = (pair.viewer.sounds.count - sounds, pair.viewer.concealments - concealments)
    Measured.note("sound at 5 % loss: \(played) played, \(made) made up, \(pair.viewer.silences) silent")
    #expect(pair.viewer.brokenSounds == 0)
    #expect(played + made >= 580)
    #expect(played >= 550)
  }
}
