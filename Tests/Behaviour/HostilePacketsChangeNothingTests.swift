import ICE
import PeerConnection
import RTPReceiving
import RTPSending
import SecureTransport
import Simulation
import TestSupport
import Testing
import Wire

/// With OpenSSL and libsrtp: what somebody on the same network records, changes and makes up.
@Suite struct HostilePacketsChangeNothingTests {
  private let stranger = TransportAddress(ip: .v4(0xc633_6401), port: 9)

  /// What must not change.
  private struct Picture: Equatable {
    var isConnected: Bool
    var childPair: Int?
    var parentPair: Int?
    var pictures: Int
    var sounds: Int
    var events: Int
    var received: [UInt64]
    var requests: Int

    init(_ pair: SimulatedPair) {
      isConnected = pair.isConnected
      (childPair, parentPair) = (pair.child.selectedPair?.id, pair.parent.selectedPair?.id)
      (pictures, sounds) = (pair.viewer.pictures.count, pair.viewer.sounds.count)
      events = pair.childEvents.count + pair.parentEvents.count
      received = pair.parent.statistics(now: pair.now).inboundRTP.map(\.packetsReceived)
      requests = pair.camera?.requests.count ?? 0
    }
  }

  /// Streams, injects, and streams on.
  private func injecting(
    _ count: Int, seed: UInt64 = 1, from source: TransportAddress? = nil,
    _ make: (SimulatedPair.Side, [[UInt8]], inout SeededGenerator) -> [UInt8]?
  ) throws {
    let pair = try SimulatedPair.encrypted(seed: seed, streaming: true)
    var random = SeededGenerator(seed: seed)
    let before = Picture(pair)
    for _ in 0..<count {
      for side in [SimulatedPair.Side.child, .parent] {
        let recorded = side == .child ? pair.arrivedAtChild : pair.arrivedAtParent
        if let datagram = make(side, recorded, &random) { pair.inject(datagram, to: side, from: source) }
      }
    }
    #expect(Picture(pair) == before)
    let start = pair.now
    pair.run(for: .seconds(6))
    #expect(pair.isConnected)
    #expect(pair.child.selectedPair?.remoteAddress == pair.parentAddress)
    #expect(pair.viewer.pictures.map(\.number) == Array(0..<pair.viewer.pictures.count))
    #expect(pair.viewer.brokenPictures == 0 && pair.viewer.brokenSounds == 0)
    #expect(pair.viewer.longestFreeze(from: start, to: pair.now) <= .milliseconds(50))
  }

  @Test func replayedMediaIsRefusedAndCounted() throws {
    let pair = try SimulatedPair.encrypted(streaming: true)
    let media = pair.arrivedAtParent.filter { [.rtp, .rtcp].contains(kind(of: $0)) }
    let before = Picture(pair)
    for packet in media { pair.inject(packet, to: .parent) }
    #expect(pair.parent.statistics(now: pair.now).refusedPackets == UInt64(media.count))
    #expect(Picture(pair) == before)
  }

  /// Everything once more from the first handshake message on, in any order.
  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func replaysInAnyOrderChangeNothing(seed: UInt64) throws {
    try injecting(400, seed: seed) { _, recorded, random in recorded.randomElement(using: &random) }
  }

  @Test func packetsOutOfOrderAreAccepted() throws {
    let pair = try SimulatedPair.encrypted(streaming: true)
    pair.link = .init(delay: .milliseconds(5), jitter: .milliseconds(20), reordering: 0.1)
    pair.run(for: .seconds(5))
    // Sound that is asked for comes again bit for bit; when it was only late, one of the two is a replay.
    let sound = try #require(pair.child.statistics(now: pair.now).outboundRTP.last)
    #expect(pair.parent.statistics(now: pair.now).refusedPackets <= sound.retransmittedPacketsSent)
    #expect(pair.viewer.pictures.map(\.number) == Array(0..<pair.viewer.pictures.count))
    #expect(pair.viewer.brokenPictures == 0 && pair.viewer.brokenSounds == 0)
    #expect(pair.pliCount == 0)
  }

  @Test func replaysFromElsewhereMoveNothing() throws {
    try injecting(400, from: stranger) { _, recorded, random in recorded.randomElement(using: &random) }
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func truncatedPacketsChangeNothing(seed: UInt64) throws {
    try injecting(400, seed: seed) { _, recorded, random in
      guard let datagram = recorded.randomElement(using: &random), !datagram.isEmpty else { return nil }
      return Array(datagram.prefix(Int.random(in: 0..<datagram.count, using: &random)))
    }
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func changedPacketsChangeNothing(seed: UInt64) throws {
    try injecting(400, seed: seed) { _, recorded, random in
      guard var datagram = recorded.randomElement(using: &random), !datagram.isEmpty else { return nil }
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        datagram[Int.random(in: 0..<datagram.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      return datagram
    }
  }

  @Test func madeUpPacketsChangeNothing() throws {
    try injecting(1000, from: stranger) { _, _, random in
      (0..<Int.random(in: 0...200, using: &random)).map { _ in .random(in: 0...255, using: &random) }
    }
  }

  /// What carries no authentication ever: alerts, hello requests and new handshakes in the clear, ICMP-like noise.
  @Test func clearTextRecordsAfterTheHandshakeChangeNothing() throws {
    let records: [[UInt8]] = [
      // close_notify, fatal handshake_failure; epoch 0, then the epoch of the keys.
      [21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 99, 0, 2, 1, 0], [21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 99, 0, 2, 2, 40],
      [21, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 1, 0, 0, 2, 2, 40],
      // HelloRequest, ChangeCipherSpec, application data.
      [22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 98, 0, 12, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0],
      [20, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 97, 0, 1, 1], [23, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 96, 0, 3, 1, 2, 3],
    ]
    try injecting(200) { _, _, random in records.randomElement(using: &random) }
  }

  /// An alert from nobody while the handshake runs, when nothing can be authenticated yet.
  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func strangersCannotEndAHandshake(seed: UInt64) throws {
    let pair = SimulatedPair(
      seed: seed, parentSecure: try OpenSSLTransports.simulated(),
      childSecure: try OpenSSLTransports.simulated())
    try pair.exchangeDescriptions()
    let alert: [UInt8] = [21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 40]
    for _ in 0..<60 {
      pair.inject(alert, to: .child, from: stranger)
      pair.inject(alert, to: .parent, from: stranger)
      pair.run(for: .milliseconds(1))
    }
    #expect(pair.run(until: { pair.isConnected }, limit: .seconds(2)))
  }

  @Test func packetsOfAnotherCallChangeNothing() throws {
    let other = try SimulatedPair.encrypted(seed: 7, streaming: true)
    let (toChild, toParent) = (other.arrivedAtChild, other.arrivedAtParent)
    try injecting(400) { side, _, random in (side == .child ? toChild : toParent).randomElement(using: &random) }
  }
}
