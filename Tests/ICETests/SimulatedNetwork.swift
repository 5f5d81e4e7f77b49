import ICE
import STUN
import TestSupport
import Wire

/// One agent with its addresses, perhaps behind a NAT, and what it has told.
final class SimulatedPeer {
  var agent: ICEAgent
  private(set) var addresses: [TransportAddress]
  /// Endpoint-independent mapping with address-dependent filtering, the usual home router; nil without one.
  var natAddress: IPAddress?
  private(set) var mappings: [TransportAddress: UInt16] = [:]
  private var permitted: Set<TransportAddress> = []
  private var nextPort: UInt16 = 40000
  /// Whether `handle` is told the address that received a datagram.
  var knowsLocalAddress = true
  var states: [(at: Instant, state: ICEConnectionState)] = []
  var selections: [(at: Instant, pair: ICECandidatePair)] = []
  var resolves: [String] = []
  var sent: [(at: Instant, bytes: [UInt8], to: TransportAddress)] = []
  var received: [(bytes: [UInt8], from: TransportAddress, to: TransportAddress)] = []

  init(
    _ role: ICERole, addresses: [String], seed: UInt64, credentials: ICECredentials? = nil,
    configuration: ICEConfiguration = ICEConfiguration()
  ) {
    agent = ICEAgent(
      role: role, credentials: credentials, configuration: configuration, hashes: TestHashes(),
      random: SeededGenerator(seed: seed))
    self.addresses = addresses.map { TransportAddress(ip: IPAddress($0)!, port: 5000) }
  }

  /// The machine has another address instead of one of its own.
  func move(from old: String, to new: String?, now: Instant) {
    let gone = TransportAddress(ip: IPAddress(old)!, port: 5000)
    addresses.removeAll { $0 == gone }
    agent.removeLocalCandidate(base: gone, now: now)
    guard let address = new.map({ TransportAddress(ip: IPAddress($0)!, port: 5000) }) else { return }
    addresses.append(address)
    agent.addLocalCandidate(.host(address, localPreference: 60000), now: now)
  }

  /// The router forgets everything and takes new ports, as after a restart.
  func rebind() {
    mappings = [:]
    permitted = []
  }

  func mapOutgoing(_ from: TransportAddress, to: TransportAddress) -> TransportAddress {
    guard let natAddress else { return from }
    permitted.insert(to)
    let port = mappings[from] ?? nextPort
    if mappings[from] == nil {
      mappings[from] = port
      nextPort += 1
    }
    return TransportAddress(ip: natAddress, port: port)
  }

  func mapIncoming(_ to: TransportAddress, from: TransportAddress) -> TransportAddress? {
    guard let natAddress else { return addresses.contains(to) ? to : nil }
    guard to.ip == natAddress, permitted.contains(from) else { return nil }
    return mappings.first { $0.value == to.port }?.key
  }

  var statesSeen: [ICEConnectionState] { states.map(\.state) }
  var requestsSent: Int { sent.filter { $0.bytes[1] == 1 && $0.bytes[0] == 0 }.count }
}

/// Two peers and the network between them, in fake time.
final class SimulatedNetwork {
  let peers: [SimulatedPeer]
  var now = Instant.zero
  var delay = Duration.milliseconds(2)
  var jitter = Duration.zero
  /// 0...1, of every datagram.
  var loss = 0.0
  /// Whether a datagram may pass at all.
  var passes: (_ from: TransportAddress, _ to: TransportAddress) -> Bool = { _, _ in true }
  private var random: SeededGenerator
  private var queue: [(at: Instant, order: Int, bytes: [UInt8], from: TransportAddress, to: TransportAddress)] = []
  private var order = 0

  init(_ first: SimulatedPeer, _ second: SimulatedPeer, seed: UInt64 = 1) {
    peers = [first, second]
    random = SeededGenerator(seed: seed)
  }

  /// Hands over credentials and host candidates as a description that carries them all would.
  func exchange(candidatesOfFirst: Bool = true, candidatesOfSecond: Bool = true) {
    for peer in peers { addHosts(of: peer) }
    exchangeCredentials()
    if candidatesOfFirst { give(peers[0].agent.localCandidates, to: peers[1]) }
    if candidatesOfSecond { give(peers[1].agent.localCandidates, to: peers[0]) }
  }

  func addHosts(of peer: SimulatedPeer) {
    for (index, address) in peer.addresses.enumerated() {
      peer.agent.addLocalCandidate(.host(address, localPreference: UInt16(65535 - index)), now: now)
    }
    drain(peer)
  }

  func exchangeCredentials() {
    peers[0].agent.setRemoteCredentials(peers[1].agent.localCredentials, now: now)
    drain(peers[0])
    peers[1].agent.setRemoteCredentials(peers[0].agent.localCredentials, now: now)
    drain(peers[1])
  }

  func give(_ candidates: [ICECandidate], to peer: SimulatedPeer) {
    for candidate in candidates {
      peer.agent.addRemoteCandidate(candidate, now: now)
      drain(peer)
    }
  }

  func drain(_ peer: SimulatedPeer) {
    while let output = peer.agent.poll() {
      switch output {
      case .transmit(let bytes, let from, let to):
        peer.sent.append((now, bytes, to))
        send(bytes, from: peer.mapOutgoing(from, to: to), to: to)
      case .stateChanged(let state): peer.states.append((now, state))
      case .selectedPairChanged(let pair): peer.selections.append((now, pair))
      case .resolve(let name): peer.resolves.append(name)
      }
    }
  }

  func send(_ bytes: [UInt8], from: TransportAddress, to: TransportAddress) {
    guard passes(from, to), Double.random(in: 0..<1, using: &random) >= loss else { return }
    order += 1
    let extra = jitter == .zero ? .zero : jitter * Double.random(in: 0...1, using: &random)
    queue.append((now + delay + extra, order, bytes, from, to))
  }

  func run(for duration: Duration) {
    run(until: now + duration)
  }

  /// Delivers and fires timers in order of time.
  func run(until end: Instant, while condition: () -> Bool = { true }) {
    while condition() {
      let delivery = queue.min { ($0.at, $0.order) < ($1.at, $1.order) }
      let timer = peers.compactMap(\.agent.nextDeadline).min()
      let next = min(delivery?.at ?? .distantFuture, timer ?? .distantFuture)
      guard next <= end else { break }
      now = max(now, next)
      if let delivery, delivery.at <= now {
        queue.removeAll { $0.order == delivery.order }
        deliver(delivery.bytes, from: delivery.from, to: delivery.to)
      } else {
        for peer in peers {
          peer.agent.handleTimeout(now: now)
          drain(peer)
        }
      }
    }
    if condition() { now = max(now, end) }
  }

  /// How long it takes until both can send; nil if not within `limit`.
  func timeToConnect(limit: Duration = .seconds(20)) -> Duration? {
    let start = now
    run(until: now + limit) { !self.areConnected }
    return areConnected ? now - start : nil
  }

  var areConnected: Bool { peers.allSatisfy { $0.agent.state == .connected || $0.agent.state == .completed } }

  private func deliver(_ bytes: [UInt8], from: TransportAddress, to: TransportAddress) {
    for peer in peers {
      guard let local = peer.mapIncoming(to, from: from) else { continue }
      peer.received.append((bytes, from, local))
      let unspecified: IPAddress = local.ip.isIPv6 ? .v6(0, 0) : .v4(0)
      let told = peer.knowsLocalAddress ? local : TransportAddress(ip: unspecified, port: local.port)
      peer.agent.handle(datagram: bytes, from: from, to: told, now: now)
      drain(peer)
      return
    }
  }
}

extension STUNMessage {
  /// The requests among what a peer sent.
  static func requests(of peer: SimulatedPeer, since start: Instant = .zero) -> [STUNMessage] {
    peer.sent.filter { $0.at >= start }.compactMap { try? STUNMessage(decoding: $0.bytes) }
      .filter { $0.messageClass == .request }
  }
}
