import PeerConnection
import RTPReceiving
import RTPSending
import SCTP
import SDP
import Simulation
import Testing
import Wire

@Suite struct DeadViewerIsForgottenTests {
  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func aDeathIsNoticedWithinThirtySeconds(seed: UInt64) throws {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true)
    pair.camera!.interval = .milliseconds(100)
    pair.run(for: .milliseconds(Int64(seed) * 1730))
    pair.isParentSuspended = true
    let died = pair.now
    #expect(pair.run(until: { pair.child.state == .disconnected }, limit: .seconds(8)))
    Measured.note("death suspected after \(pair.now - died)")
    #expect(pair.run(until: { pair.child.state == .failed }, limit: .seconds(40)))
    Measured.note("death certain after \(pair.now - died)")
    // What was under way when it died still counts as a sign of life.
    #expect(pair.now - died <= .seconds(30) + .milliseconds(10))
    #expect(pair.child.nextDeadline == nil)
    #expect(!pair.child.isSending(.video))
  }

  /// Whoever still holds the connection, to show its last figures, holds no packets.
  @Test func itsPacketsAndStreamsAreGone() throws {
    let fresh = HeldMemory.of(SimulatedPair().child).elements
    let secure = WatchedSecure(FakeSecure(seed: 2))
    let pair = SimulatedPair(childSecure: secure)
    pair.camera = TestCamera()
    pair.microphone = TestMicrophone()
    try pair.exchangeDescriptions()
    pair.run(for: .seconds(6))
    let channel = try pair.parent.openDataChannel(.init(label: "control"), now: pair.now)
    pair.drain()
    pair.run(for: .seconds(1))
    let sent = try #require(pair.child.statistics(now: pair.now).outboundRTP.first).packetsSent
    #expect(sent > 400)
    #expect(HeldMemory.of(pair.child).elements > 50_000, "a living one keeps packets to send again")
    #expect(secure.living == 2)
    pair.isParentSuspended = true
    pair.camera!.interval = .milliseconds(100)
    // What nobody acknowledges piles up.
    for _ in 0..<20 {
      try pair.child.send(.binary([UInt8](repeating: 1, count: 10_000)), on: channel, now: pair.now)
    }
    #expect(pair.run(until: { pair.child.state == .failed }, limit: .seconds(40)))
    let held = HeldMemory.of(pair.child)
    Measured.note("held by a fresh connection: \(fresh), by one that failed: \(held.elements)")
    #expect(held.elements < fresh + 1000)
    #expect(secure.living == 0, "DTLS and SRTP are gone")
    #expect(try #require(pair.child.statistics(now: pair.now).outboundRTP.first).packetsSent >= sent)
    // What it says and gets after its end goes nowhere.
    pair.child.send([[1]], kind: .video, mediaTime: 0, captureTime: pair.now, now: pair.now)
    for datagram in pair.arrivedAtChild.suffix(100) { pair.inject(datagram, to: .child) }
    pair.run(for: .seconds(10))
    #expect(HeldMemory.of(pair.child).elements < fresh + 1000)
  }

  @Test func theViewersOwnSideIsFreeToo() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.run(for: .seconds(5))
    // Frames wait for one that is lost, and sound in its buffer.
    pair.toChild.isCut = true
    pair.toParent.loss = 0.3
    pair.run(for: .seconds(2))
    let before = try #require(pair.parent.statistics(now: pair.now).inboundRTP.first)
    #expect(HeldMemory.of(pair.parent).elements > 5000)
    pair.parent.close(now: pair.now)
    pair.drain()
    #expect(HeldMemory.of(pair.parent).elements < HeldMemory.of(SimulatedPair().parent).elements + 1000)
    let after = try #require(pair.parent.statistics(now: pair.now).inboundRTP.first)
    #expect(after.packetsReceived == before.packetsReceived, "the figures stay")
  }

  @Test func aConnectionLetGoOfIsGoneWithEverythingInIt() throws {
    weak var child: PeerConnection?
    weak var parent: PeerConnection?
    let secure = WatchedSecure(FakeSecure(seed: 2))
    do {
      let pair = SimulatedPair(childSecure: secure)
      pair.camera = TestCamera()
      try pair.exchangeDescriptions()
      pair.run(for: .seconds(3))
      (child, parent) = (pair.child, pair.parent)
      #expect(child != nil && secure.living == 2)
    }
    #expect(child == nil && parent == nil)
    #expect(secure.living == 0)
  }

  /// It never got as far as keys.
  @Test func aViewerThatDiesWhileConnectingIsForgotten() throws {
    let pair = SimulatedPair()
    try pair.exchangeDescriptions()
    try #require(pair.run(until: { pair.child.selectedPair != nil }, limit: .seconds(1)))
    #expect(!pair.isConnected)
    pair.isParentSuspended = true
    let died = pair.now
    #expect(pair.run(until: { pair.child.state == .failed }, limit: .seconds(60)))
    #expect(pair.now - died <= .seconds(31))
  }

  @Test func goodbyeEndsTheOtherSideAtOnce() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.parent.close(now: pair.now)
    pair.drain()
    #expect(pair.run(until: { pair.child.state == .closed }, limit: .milliseconds(50)))
    #expect(HeldMemory.of(pair.child).elements < HeldMemory.of(SimulatedPair().child).elements + 1000)
  }
}

/// Counts the secure transports that still exist.
final class WatchedSecure: SecureTransports, @unchecked Sendable {
  private struct Weak { weak var object: AnyObject? }
  private let base: any SecureTransports
  private var made: [Weak] = []

  init(_ base: any SecureTransports) { self.base = base }

  var living: Int { made.count { $0.object != nil } }
  var certificateSHA256: [UInt8] { base.certificateSHA256 }

  func makeDTLS() throws -> any DTLSPort {
    let port = try base.makeDTLS()
    made.append(Weak(object: port))
    return port
  }

  func makeSRTP(keys: SRTPKeys) throws(SRTPError) -> any SRTPPort {
    let port = try base.makeSRTP(keys: keys)
    made.append(Weak(object: port))
    return port
  }
}
