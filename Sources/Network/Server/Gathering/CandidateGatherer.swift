internal import ICE
internal import NIOCore
internal import STUN
internal import Wire

/// Asks STUN and TURN servers for candidates of the media socket, for the peers that want them. RFC 8445 section 5.1.1.2.
///
/// Confined to the event loop.
final class CandidateGatherer {
  enum Finding {
    /// The socket, as seen from outside when it sends from `base`.
    case serverReflexive(TransportAddress, base: TransportAddress)
    /// Every server has answered or been given up.
    case complete
  }

  private struct Asked {
    var query: ReflexiveQuery
    var peers: [PeerID]
  }

  private let eventLoop: any EventLoop
  private let now: () -> Instant
  private let send: ([UInt8], TransportAddress) -> Void
  private let found: (PeerID, Finding) -> Void
  /// The servers of each peer, to be asked again after a change of addresses.
  private var servers: [PeerID: [ICEServer]] = [:]
  /// Answers that each peer waits for.
  private var pending: [PeerID: Int] = [:]
  private var asked: [Asked] = []
  private lazy var timer = DeadlineTimer(on: eventLoop, now: now) { [weak self] in self?.fire() }

  /// Addresses of servers that are asked for one peer; further ones are ignored.
  private static let maximumURLs = 16

  /// - Parameters:
  ///   - send: sends a datagram from the media socket.
  ///   - found: may be called from within `gather`.
  init(
    eventLoop: any EventLoop, now: @escaping () -> Instant, send: @escaping ([UInt8], TransportAddress) -> Void,
    found: @escaping (PeerID, Finding) -> Void
  ) {
    self.eventLoop = eventLoop
    self.now = now
    self.send = send
    self.found = found
  }

  func serves(_ peer: PeerID) -> Bool { servers[peer] != nil }

  func gather(for peer: PeerID, from servers: [ICEServer]) {
    self.servers[peer] = servers
    begin(peer)
  }

  /// Asks its servers, perhaps again.
  func begin(_ peer: PeerID) {
    guard let servers = servers[peer] else { return }
    // One more, which ends here: a server may answer at once.
    pending[peer, default: 0] += 1
    for url in servers.flatMap(\.urls).prefix(Self.maximumURLs) where url.givesReflexiveAddress {
      pending[peer, default: 0] += 1
      ServerNames.address(of: url, on: eventLoop).assumeIsolated().whenComplete { [weak self] result in
        guard let self else { return }
        if let address = (try? result.get()).flatMap({ $0 }) { ask(address, for: peer) }
        answered(peer)
      }
    }
    answered(peer)
  }

  func forget(_ peer: PeerID) {
    servers[peer] = nil
    pending[peer] = nil
    for index in asked.indices { asked[index].peers.removeAll { $0 == peer } }
    asked.removeAll(where: \.peers.isEmpty)
    timer.set(asked.map(\.query.deadline).min())
  }

  /// Takes a datagram that came to the media socket. False: it is no answer of a server.
  func takes(_ datagram: [UInt8], from source: TransportAddress, to local: TransportAddress) -> Bool {
    guard let index = asked.firstIndex(where: { $0.query.server == source }), STUNMessage.isSTUN(datagram),
      let message = try? STUNMessage(decoding: datagram), let mapped = asked[index].query.answer(message, from: source)
    else { return false }
    let peers = asked.remove(at: index).peers
    for peer in peers {
      found(peer, .serverReflexive(mapped, base: local))
      answered(peer)
    }
    timer.set(asked.map(\.query.deadline).min())
    return true
  }

  private func ask(_ server: TransportAddress, for peer: PeerID) {
    guard servers[peer] != nil else { return }
    pending[peer, default: 0] += 1
    if let index = asked.firstIndex(where: { $0.query.server == server }) {
      asked[index].peers.append(peer)
      return
    }
    let query = ReflexiveQuery(to: server, now: now())
    asked.append(Asked(query: query, peers: [peer]))
    send(query.request, server)
    timer.set(asked.map(\.query.deadline).min())
  }

  private func answered(_ peer: PeerID) {
    guard let count = pending[peer] else { return }
    pending[peer] = count > 1 ? count - 1 : nil
    if count == 1 { found(peer, .complete) }
  }

  private func fire() {
    let now = now()
    for index in asked.indices.reversed() {
      switch asked[index].query.handleTimeout(now: now) {
      case .again: send(asked[index].query.request, asked[index].query.server)
      case .unanswered: asked.remove(at: index).peers.forEach(answered)
      case nil: break
      }
    }
    timer.set(asked.map(\.query.deadline).min())
  }
}

extension ICEServerURL {
  /// TURN servers answer Binding requests too. Over TCP and TLS the answer would say nothing of our UDP socket.
  fileprivate var givesReflexiveAddress: Bool {
    switch scheme {
    case .stun: true
    case .turn: transport == .udp
    case .stuns, .turns: false
    }
  }
}
