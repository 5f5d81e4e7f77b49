internal import NIOCore
internal import STUN
internal import TURN
internal import Wire

/// Asks STUN and TURN servers for candidates of the media socket, for the peers that want them. RFC 8445 section 5.1.1.2.
///
/// Confined to the event loop.
final class CandidateGatherer {
  enum Finding {
    /// The socket, as seen from outside when it sends from `base`.
    case serverReflexive(TransportAddress, base: TransportAddress)
    /// An address at a TURN server.
    case relayed(RelayGroup.Relayed)
    /// It carries nothing any more.
    case relayGone(TransportAddress)
    /// Why there is no relay, for people.
    case relayFailed(String)
    /// Every server has answered or been given up.
    case complete
  }

  private struct Asked {
    var query: ReflexiveQuery
    var peers: [PeerID]
  }

  private let eventLoop: any EventLoop
  private let now: @Sendable () -> Instant
  private let marking: MediaMarking
  private let send: ([UInt8], TransportAddress) -> Void
  private let found: (PeerID, Finding) -> Void
  /// What a TURN server has passed on.
  private let received: ([UInt8], _ from: TransportAddress, _ at: TransportAddress) -> Void
  /// The servers of each peer, to be asked again after a change of addresses.
  private var servers: [PeerID: [ICEServer]] = [:]
  /// Answers that each peer waits for.
  private var pending: [PeerID: Int] = [:]
  private var asked: [Asked] = []
  /// By the addresses of the server.
  private var relays: [[ICEServerURL]: RelayGroup] = [:]
  /// Peers that wait for a group's first allocation.
  private var waiting: [[ICEServerURL]: Set<PeerID>] = [:]
  /// Groups by the addresses that they have been given.
  private var relayed: [TransportAddress: RelayGroup] = [:]
  /// Loading the system's CAs takes long, so it is done once and only where `turns` is used.
  private lazy var tls = try? RelayTLS()
  /// The current servers, with new credentials.
  var renewedServers: () -> [ICEServer] = { [] }
  private lazy var timer = DeadlineTimer(on: eventLoop, now: now) { [weak self] in self?.fire() }

  /// Addresses of servers that are asked for one peer; further ones are ignored.
  private static let maximumURLs = 16

  /// - Parameters:
  ///   - send: sends a datagram from the media socket.
  ///   - found: may be called from within `gather`.
  init(
    eventLoop: any EventLoop, now: @escaping @Sendable () -> Instant, marking: MediaMarking,
    send: @escaping ([UInt8], TransportAddress) -> Void, found: @escaping (PeerID, Finding) -> Void,
    received: @escaping ([UInt8], _ from: TransportAddress, _ at: TransportAddress) -> Void
  ) {
    self.eventLoop = eventLoop
    self.now = now
    self.marking = marking
    self.send = send
    self.found = found
    self.received = received
  }

  func serves(_ peer: PeerID) -> Bool { servers[peer] != nil }

  func servers(of peer: PeerID) -> [ICEServer]? { servers[peer] }

  func gather(for peer: PeerID, from servers: [ICEServer]) {
    self.servers[peer] = servers
    begin(peer)
  }

  /// Asks its servers, perhaps again.
  func begin(_ peer: PeerID) {
    guard let servers = servers[peer] else { return }
    // One more, which ends here: a server may answer at once.
    pending[peer, default: 0] += 1
    let urls = servers.flatMap { server in server.urls.map { (url: $0, lender: server.lender) } }
    for (url, lender) in urls.prefix(Self.maximumURLs) where url.bindingOnly != nil {
      pending[peer, default: 0] += 1
      RelayResolver.addresses(of: url, lentBy: lender, on: eventLoop).assumeIsolated().whenComplete {
        [weak self] result in
        guard let self else { return }
        if let ip = (try? result.get())?.first { ask(TransportAddress(ip: ip, port: url.port), for: peer) }
        answered(peer)
      }
    }
    for server in servers where server.isRelay { relay(through: server, for: peer) }
    answered(peer)
  }

  func forget(_ peer: PeerID) {
    servers[peer] = nil
    pending[peer] = nil
    for key in waiting.keys { waiting[key]?.remove(peer) }
    for group in relays.values { group.leave(peer) }
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

  // MARK: Relays

  /// Whether a TURN server takes the datagram, because it gave us the address that it is to come from.
  func send(_ datagram: [UInt8], from source: TransportAddress, to peer: TransportAddress) -> Bool {
    relayed[source]?.send(datagram, from: source, to: peer) ?? false
  }

  func relayProtocol(of address: TransportAddress) -> String? { relayed[address]?.transport(of: address)?.rawValue }

  /// This machine has other addresses: allocations belong to the old ones.
  func replaceRelays() {
    for group in relays.values { group.replace() }
  }

  func close() {
    timer.cancel()
    for group in relays.values { group.close() }
  }

  private func relay(through server: ICEServer, for peer: PeerID) {
    let key = server.urls
    let group = relays[key] ?? makeGroup(server)
    relays[key] = group
    if group.use(by: peer, server) {
      pending[peer, default: 0] += 1
      // Twice after a change of addresses: then one of them is enough.
      if waiting[key, default: []].insert(peer).inserted == false { answered(peer) }
    } else if let current = group.current {
      found(peer, .relayed(current))
    }
  }

  private func makeGroup(_ server: ICEServer) -> RelayGroup {
    let key = server.urls
    return RelayGroup(
      server, tls: key.contains { $0.turnTransport == .tls } ? tls : nil, marking: marking,
      eventLoop: eventLoop, now: now,
      renewed: { [weak self] in self?.renewedServers().first { $0.urls == key } }
    ) { [weak self] event in
      self?.handle(event, key)
    }
  }

  private func handle(_ event: RelayGroup.Event, _ key: [ICEServerURL]) {
    guard let group = relays[key] else { return }
    switch event {
    case .received(let datagram, let peer, let address):
      received(datagram, peer, address)
    case .allocated(let allocated):
      relayed[allocated.address] = group
      for peer in group.users { found(peer, .relayed(allocated)) }
      settle(key)
    case .gone(let address):
      relayed[address] = nil
      for peer in group.users { found(peer, .relayGone(address)) }
    case .failed(let reason):
      for peer in group.users { found(peer, .relayFailed(reason)) }
      settle(key)
    }
  }

  private func settle(_ key: [ICEServerURL]) {
    for peer in waiting.removeValue(forKey: key) ?? [] { answered(peer) }
  }

  // MARK: Reflexive addresses

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

extension ICEServer {
  /// A TURN server that can be used.
  fileprivate var isRelay: Bool { username != nil && credential != nil && urls.contains { $0.turnTransport != nil } }
}
