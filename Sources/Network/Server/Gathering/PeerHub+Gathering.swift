internal import NIOCore
internal import PeerConnection
public import TURN
public import Wire

// Candidates that servers give.
extension PeerHub {
  func gather(for id: PeerID, from servers: [ICEServer]) {
    let gatherer =
      self.gatherer
      ?? CandidateGatherer(eventLoop: eventLoop, now: now, marking: marking) { [weak self] datagram, server in
        self?.write(datagram, to: server)
      } found: { [weak self] peer, finding in
        self?.take(finding, for: peer)
      } received: { [weak self] datagram, peer, relayed in
        self?.receive(datagram, from: peer, to: relayed)
        self?.finishTurn()
      }
    if self.gatherer == nil { gatherer.renewedServers = { [weak self] in self?.renewedServers() ?? [] } }
    self.gatherer = gatherer
    gatherer.gather(for: id, from: servers)
  }

  /// Asks further servers for candidates of a peer that has been made already. Unknown peers are ignored.
  public func ask(_ servers: [ICEServer], for id: PeerID) {
    eventLoop.preconditionInEventLoop()
    guard !servers.isEmpty else { return }
    with(id) { connection, _ in
      connection.resumeGathering()
      gather(for: id, from: (gatherer?.servers(of: id) ?? []) + servers)
    }
  }

  /// The addresses of this machine have changed: what servers have said no longer holds.
  func regather(_ peer: Peer) {
    guard let gatherer, gatherer.serves(peer.id) else { return }
    peer.connection.resumeGathering()
    gatherer.begin(peer.id)
  }

  /// How the TURN server is reached that gave us this address: udp, tcp or tls; nil for our own addresses.
  public func relayProtocol(of address: TransportAddress) -> String? {
    eventLoop.preconditionInEventLoop()
    return gatherer?.relayProtocol(of: address)
  }

  private func take(_ finding: CandidateGatherer.Finding, for id: PeerID) {
    switch finding {
    case .serverReflexive(let address, _): house.add(mapped: address.ip)
    case .relayed(let relayed): house.add(mapped: relayed.mapped.ip)
    case .relayGone, .relayFailed, .complete: break
    }
    with(id) { connection, now in
      switch finding {
      case .serverReflexive(let address, let base):
        connection.addServerReflexiveCandidate(address, base: base, now: now)
      case .relayed(let relayed):
        connection.addRelayedCandidate(
          relayed.address, related: relayed.mapped, preference: relayed.preference, now: now)
      case .relayGone(let address):
        connection.removeRelayedCandidate(address, now: now)
      case .relayFailed(let reason):
        onRelayFailure(id, reason)
      case .complete:
        connection.endLocalCandidates(now: now)
      }
    }
  }

  /// To a server, which is no peer.
  private func write(_ datagram: [UInt8], to server: TransportAddress) {
    guard let socket, let destination = SocketAddress(server, forIPv6Socket: socket.isIPv6) else { return }
    writer.write(datagram, to: server, at: destination, through: socket)
    flush()
  }
}
