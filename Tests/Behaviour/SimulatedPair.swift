import PeerConnection
import RTP
import SCTP
import SDP
import TestSupport
import Wire

/// A parent that offers and a child that answers, in fake time over a seeded network.
final class SimulatedPair {
  enum Side { case parent, child }

  /// What a link does to datagrams.
  struct Link {
    var delay: Duration = .milliseconds(5)
    var jitter: Duration = .zero
    var loss = 0.0
    var duplication = 0.0
    var isCut = false
  }

  private struct InFlight {
    var arrives: Instant
    var order: Int
    var datagram: [UInt8]
    var from: TransportAddress
    var to: TransportAddress
  }

  private(set) var now: Instant = .zero + .seconds(10)
  let parent: PeerConnection
  let child: PeerConnection
  var link = Link()
  private(set) var parentEvents: [PeerConnectionEvent] = []
  private(set) var childEvents: [PeerConnectionEvent] = []
  /// Datagrams as they arrived at each end.
  private(set) var arrivedAtParent: [[UInt8]] = []
  private(set) var arrivedAtChild: [[UInt8]] = []
  private var inFlight: [InFlight] = []
  private var order = 0
  private var random: SeededGenerator
  var parentAddress = TransportAddress(ip: .v4(0xc000_0201), port: 5000)
  let childAddress = TransportAddress(ip: .v4(0xc000_0202), port: 6000)

  init(
    seed: UInt64 = 1, parentSecure: any SecureTransports = FakeSecure(seed: 1),
    childSecure: any SecureTransports = FakeSecure(seed: 2)
  ) {
    random = SeededGenerator(seed: seed)
    func make(_ media: [LocalMedia], _ secure: any SecureTransports, _ seed: UInt64) -> PeerConnection {
      PeerConnection(
        configuration: PeerConnectionConfiguration(media: media), secure: secure, hashes: TestHashes(),
        random: SeededGenerator(seed: seed),
        wallClock: WallClockReference(instant: .zero, unixNanoseconds: 1_700_000_000_000_000_000))
    }
    parent = make(Self.media(.receiveOnly, ssrc: 100), parentSecure, seed &* 2 &+ 1)
    child = make(Self.media(.sendOnly, ssrc: 200), childSecure, seed &* 2 &+ 2)
    parent.addLocalCandidate(parentAddress, now: now)
    child.addLocalCandidate(childAddress, now: now)
  }

  static func media(_ direction: MediaDirection, ssrc: UInt32) -> [LocalMedia] {
    let extensions = [RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC]
    return [
      LocalMedia(
        kind: .video, direction: direction, codecs: [.vp8, .rtx], headerExtensions: extensions, ssrc: ssrc,
        rtxSSRC: ssrc + 1, cname: "test", streamID: "cradle", trackID: "video"),
      LocalMedia(
        kind: .audio, direction: direction, codecs: [.opus], headerExtensions: extensions, ssrc: ssrc + 2,
        cname: "test", streamID: "cradle", trackID: "audio"),
    ]
  }

  /// Offer and answer, as if by WHEP.
  func exchangeDescriptions() throws {
    let offer = try parent.offer(wantsDataChannel: true, now: now)
    let answer = try child.answer(try SessionDescription(parsing: offer.description), now: now)
    try parent.accept(try SessionDescription(parsing: answer.description), now: now)
    drain()
  }

  /// Lets the world run; `every` is called each millisecond of it.
  func run(for duration: Duration, every: ((Instant) -> Void)? = nil) {
    let end = now + duration
    while now < end {
      now += .milliseconds(1)
      every?(now)
      deliver()
      if let deadline = parent.nextDeadline, deadline <= now { parent.handleTimeout(now: now) }
      if let deadline = child.nextDeadline, deadline <= now { child.handleTimeout(now: now) }
      drain()
    }
  }

  /// Runs until `condition` holds; false if it does not within `limit`.
  func run(until condition: () -> Bool, limit: Duration) -> Bool {
    let end = now + limit
    while now < end, !condition() { run(for: .milliseconds(1)) }
    return condition()
  }

  /// Puts a datagram on the wire as if somebody else had sent it.
  func inject(_ datagram: [UInt8], to side: Side, from source: TransportAddress? = nil) {
    switch side {
    case .child:
      child.handle(datagram: datagram, from: source ?? parentAddress, to: childAddress, now: now)
    case .parent:
      parent.handle(datagram: datagram, from: source ?? childAddress, to: parentAddress, now: now)
    }
    drain()
  }

  var isConnected: Bool { parent.state == .connected && child.state == .connected }

  private func deliver() {
    let due = inFlight.filter { $0.arrives <= now }.sorted { ($0.arrives, $0.order) < ($1.arrives, $1.order) }
    inFlight.removeAll { $0.arrives <= now }
    for item in due {
      if item.to == childAddress {
        arrivedAtChild.append(item.datagram)
        child.handle(datagram: item.datagram, from: item.from, to: childAddress, now: now)
      } else if item.to == parentAddress {
        arrivedAtParent.append(item.datagram)
        parent.handle(datagram: item.datagram, from: item.from, to: parentAddress, now: now)
      }
    }
  }

  func drain() {
    while let output = parent.poll() { take(output, from: parentAddress) { parentEvents.append($0) } }
    while let output = child.poll() { take(output, from: childAddress) { childEvents.append($0) } }
  }

  private func take(
    _ output: PeerConnectionOutput, from source: TransportAddress, record: (PeerConnectionEvent) -> Void
  ) {
    switch output {
    case .event(let event): record(event)
    case .transmit(let datagram, _, let to):
      guard !link.isCut, Double.random(in: 0..<1, using: &random) >= link.loss else { return }
      let copies = Double.random(in: 0..<1, using: &random) < link.duplication ? 2 : 1
      for _ in 0..<copies {
        order += 1
        let extra = Double.random(in: 0...1, using: &random) * Double(link.jitter.nanoseconds)
        inFlight.append(
          InFlight(
            arrives: now + link.delay + .nanoseconds(Int64(extra)), order: order, datagram: datagram, from: source,
            to: to))
      }
    }
  }
}
