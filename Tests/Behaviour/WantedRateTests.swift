import PeerConnection
import RTPSending
import SDP
import Simulation
import Testing
import Wire

/// A peer says in its offer how much it wants to be sent (`b=AS`, `b=TIAS`).
@Suite struct WantedRateTests {
  /// - Parameter munge: changes the parent's offer.
  private func connected(_ munge: (inout SessionDescription) -> Void) throws -> SimulatedPair {
    let pair = SimulatedPair(seed: 1) { _, configuration in
      for index in configuration.media.indices where configuration.media[index].kind == .audio {
        configuration.media[index].codecs.append(.opusRED)
      }
    }
    var offer = try pair.parent.offer(wantsDataChannel: true, now: pair.now)
    munge(&offer)
    let answer = try pair.child.answer(try SessionDescription(parsing: offer.description), now: pair.now)
    try pair.parent.accept(try SessionDescription(parsing: answer.description), now: pair.now)
    pair.drain()
    try #require(pair.run(until: { pair.isConnected }, limit: .seconds(2)))
    return pair
  }

  private func limits(_ munge: @escaping (inout SessionDescription) -> Void) throws -> [Int?] {
    let limits = try connected(munge).child.sendingLimits
    return [limits.totalKbps, limits.pictureKbps, limits.soundKbps]
  }

  @Test func aSectionBoundsItsMediumAndTheSessionAll() throws {
    #expect(try limits { _ in } == [nil, nil, nil])
    #expect(try limits { $0.bandwidth.applicationSpecificKbps = 500 } == [500, nil, nil])
    // Sound has no limit: it comes on top.
    #expect(try limits { $0.media[0].bandwidth.applicationSpecificKbps = 300 } == [405, 300, nil])
    // Pictures have none.
    #expect(try limits { $0.media[1].bandwidth.applicationSpecificKbps = 40 } == [nil, nil, 40])
    let both = try limits {
      $0.bandwidth.applicationSpecificKbps = 330
      $0.media[0].bandwidth.applicationSpecificKbps = 300
      $0.media[1].bandwidth.applicationSpecificKbps = 40
    }
    #expect(both == [330, 300, 40])
    let endless = try limits { for index in 0...1 { $0.media[index].bandwidth.applicationSpecificKbps = .max } }
    #expect(endless == [200_000_000, 100_000_000, 100_000_000])
    #expect(
      try limits { for index in 0...2 { $0.media[index].bandwidth.applicationSpecificKbps = 0 } } == [nil, nil, nil])
    // What is said about messages bounds no media.
    #expect(try limits { $0.media[2].bandwidth.applicationSpecificKbps = 30 } == [nil, nil, nil])
  }

  /// From before the first packet on, on a path that carries any rate, and while it is probed.
  @Test func theEstimateNeverRisesAboveIt() throws {
    let pair = try connected { $0.media[0].bandwidth.applicationSpecificKbps = 300 }
    #expect(pair.child.statistics(now: pair.now).availableOutgoingKbps == 405)
    pair.camera = TestCamera()
    pair.microphone = TestMicrophone()
    for _ in 0..<40 {
      pair.run(for: .milliseconds(500))
      #expect(pair.child.statistics(now: pair.now).availableOutgoingKbps <= 405)
    }
    #expect(pair.child.statistics(now: pair.now).path.probesSent == 0)
    let free = try connected { _ in }
    #expect(free.child.statistics(now: free.now).availableOutgoingKbps == 1500)
  }

  @Test func lessThanSoundNeedsDoesNotEndIt() throws {
    let pair = try connected { $0.bandwidth.transportIndependentBitsPerSecond = 1 }
    #expect(pair.child.sendingLimits.totalKbps == 16)
    #expect(pair.child.statistics(now: pair.now).availableOutgoingKbps == 40)
    pair.microphone = TestMicrophone()
    pair.run(for: .seconds(2))
    #expect(pair.viewer.sounds.count > 50)
  }

  /// RFC 2198: a copy of each packet is as much again.
  @Test(arguments: [(nil as UInt64?, true), (105, true), (104, false), (40, false)])
  func soundIsSentWithoutCopiesWhereItsLimitIsTooLow(_ kbps: UInt64?, _ isRedundant: Bool) throws {
    let pair = try connected { $0.media[1].bandwidth.applicationSpecificKbps = kbps }
    var payloadTypes: Set<UInt8> = []
    pair.onSend = { side, datagram in
      guard side == .child, datagram.count > 1, kind(of: datagram) == .rtp else { return }
      payloadTypes.insert(datagram[1] & 0x7f)
    }
    pair.microphone = TestMicrophone()
    pair.run(for: .seconds(1))
    #expect(payloadTypes.contains(RTPCodec.opusRED.preferredPayloadType) == isRedundant, "\(payloadTypes)")
    #expect(!payloadTypes.isEmpty)
  }

  /// The same code at the other end: an answer bounds what the offerer sends.
  @Test func anAnswerBoundsTheOfferersSending() throws {
    let pair = SimulatedPair(seed: 1) { side, configuration in
      for index in configuration.media.indices where side == .parent {
        configuration.media[index].direction = .sendReceive
      }
      for index in configuration.media.indices where side == .child {
        configuration.media[index].direction = .sendReceive
      }
    }
    let offer = try pair.parent.offer(wantsDataChannel: true, now: pair.now)
    var answer = try pair.child.answer(offer, now: pair.now)
    answer.bandwidth.applicationSpecificKbps = 250
    try pair.parent.accept(try SessionDescription(parsing: answer.description), now: pair.now)
    #expect(pair.parent.sendingLimits.totalKbps == 250 && pair.child.sendingLimits == SendingLimits())
    #expect(pair.parent.statistics(now: pair.now).availableOutgoingKbps == 250)
    #expect(pair.child.statistics(now: pair.now).availableOutgoingKbps == 1500)
  }
}
