internal import Control
internal import Frames
internal import ICE
internal import NIOCore
internal import PeerConnection
internal import SCTP
internal import SDP
internal import Server
internal import TURN
internal import Wire

/// One session with a child, from the offer to its end: signalling, the peer connection and the control channel. Confined
/// to the event loop.
final class ChildSession {
  enum Event {
    /// Media and commands flow. Sent again after `weak`.
    case connected
    /// Consent checks have had no answer for a while (RFC 7675); the link may recover.
    case weak
    case waiting(String, Duration)
    /// The child has not been found yet, for a person.
    case searching(String)
    case push(ControlPush)
    /// The last event.
    case over(SessionEnd)
  }

  let control: ControlClient
  /// Nil until the offer has been made.
  private(set) var peer: PeerID?
  private let hub: PeerHub
  private let signaling: any SessionSignaling
  private let configuration: PeerConnectionConfiguration
  private let paths: PathChoice
  private let notify: (Event) -> Void
  private let channel: Channel
  private var isOver = false
  /// The child has answered.
  private var isAnswered = false
  /// Until a path has been found.
  private var search: PathSearch?
  /// Where data comes in here, and where it comes from. At a relay, `local` is none of our own addresses.
  private var path: (local: IPAddress, remote: IPAddress, isAtRelay: Bool)?
  /// How long to wait for the reason of an end.
  private static let patience: TimeAmount = .milliseconds(500)
  /// A child that runs sends more often than this.
  private static let silence: TimeAmount = .milliseconds(1500)
  /// RFC 7675 section 5.1: consent expires after so long.
  private static let consent: TimeAmount = .seconds(30)

  /// The control channel. An object of its own, because the control client needs it before the session exists.
  private final class Channel {
    private let hub: PeerHub
    var peer: PeerID?
    var id: UInt16?

    init(hub: PeerHub) {
      self.hub = hub
    }

    func send(_ text: String) -> Bool {
      guard let peer, let id else { return false }
      return hub.with(peer) { connection, now in
        (try? connection.send(.text(text), on: id, now: now)) != nil
      } ?? false
    }
  }

  /// - Parameter configuration: without media the session is for commands only.
  init(
    configuration: PeerConnectionConfiguration, hub: PeerHub, signaling: any SessionSignaling,
    paths: PathChoice = .any, notify: @escaping (Event) -> Void
  ) {
    var configuration = configuration
    // The parent opens the one channel that there is.
    configuration.sctp.expectedChannels = []
    self.configuration = configuration
    self.hub = hub
    self.signaling = signaling
    self.paths = paths
    self.notify = notify
    let channel = Channel(hub: hub)
    self.channel = channel
    control = ControlClient(eventLoop: hub.eventLoop, send: channel.send)
  }

  /// Begins. Once.
  func start() {
    control.onPush = { [weak self] push in
      if case .hello(let hello) = push, let away = hello.away { self?.signaling.follow(away) }
      self?.report(.push(push))
    }
    signaling.notify = { [weak self] event in self?.handle(event) }
    hub.renewedServers = { [weak self] in self?.signaling.servers ?? [] }
    hub.onRelayFailure = { [weak self] _, reason in self?.search?.relayFailure = reason }
    hub.onAddressesChanged = { [weak self] in self?.addressesChanged() }
    signaling.start { [weak self] reach in self?.makeOffer(reach) }
  }

  /// Ends the session. `then` is called when the child has been notified, or cannot be.
  func leave(then: @escaping () -> Void) {
    isOver = true
    control.close()
    if let peer { hub.close(peer) }
    signaling.leave(then: then)
  }

  private func makeOffer(_ reach: NetworkReach) -> SessionDescription? {
    guard !isOver else { return nil }
    dropPeer()
    let servers = servers(for: reach)
    search = PathSearch(reach: reach, paths: paths, hasServers: !servers.isEmpty)
    var configuration = configuration
    if paths == .relay, reach == .elsewhere { configuration.iceTransportPolicy = .relay }
    if paths == .direct { configuration.ice.acceptsRelayedCandidates = false }
    do {
      let (peer, offer) = try hub.offer(
        configuration: configuration, wantsDataChannel: true, includingLoopback: reach == .sameMachine,
        servers: servers)
      self.peer = peer
      channel.peer = peer
      return offer
    } catch {
      end(.lost("no peer connection could be made: \(error)"))
      return nil
    }
  }

  /// What was offered before has ended.
  private func dropPeer() {
    guard let old = peer else { return }
    (peer, channel.peer, channel.id, path) = (nil, nil, nil, nil)
    (isAnswered, search) = (false, nil)
    hub.close(old)
  }

  /// The meeting place has servers for us.
  private func lend(_ servers: [ICEServer]) {
    guard let peer else { return }
    hub.ask(paths == .direct ? servers.compactMap(\.bindingOnly) : servers, for: peer)
  }

  /// At home no server is asked.
  private func servers(for reach: NetworkReach) -> [ICEServer] {
    guard reach == .elsewhere else { return [] }
    return paths == .direct ? signaling.servers.compactMap(\.bindingOnly) : signaling.servers
  }

  /// Handles every event of the peer connection except media.
  func handle(_ event: PeerConnectionEvent) {
    guard !isOver else { return }
    switch event {
    case .stateChanged(.connected):
      search = nil
      signaling.settle()
      openChannel()
      report(.connected)
    case .stateChanged(.disconnected):
      report(.weak)
      signaling.pathChanged(to: nil)
      restartICE()
      // Each restart renews what would end it, also where nobody knows the session any more.
      endIfSilent(for: Self.consent, because: "the link is lost")
    case .selectedPairChanged(let pair):
      let before = path
      path = (pair.localAddress.ip, pair.remoteAddress.ip, pair.local.type == .relayed)
      if let before, before.remote != pair.remoteAddress.ip { signaling.pathChanged(to: pair.remoteAddress.ip) }
    case .localCandidate(let candidate):
      search?.note(candidate)
      signaling.addLocalCandidate(candidate)
    case .localCandidatesComplete:
      signaling.addLocalCandidate(nil)
    case .stateChanged(.failed):
      end(.lost("the link is lost"))
    case .stateChanged(.closed):
      closedByPeer()
    case .dataChannelMessage(let id, let message) where id == channel.id:
      control.receive(message)
    case .dataChannelClosed(let id) where id == channel.id:
      control.close()
    default:
      break
    }
  }

  private func closedByPeer() {
    let reason = SessionEnd.lost("the other side ended the session")
    guard signaling.reportsReasons else { return end(reason) }
    // The reason may follow on the signalling channel; it is how an unpaired parent learns not to retry.
    let bound = NIOLoopBound(self, eventLoop: hub.eventLoop)
    hub.eventLoop.scheduleTask(in: Self.patience) { bound.value.end(reason) }
  }

  /// A program that was killed leaves closed sockets. Where nothing comes any more either, there is no reason to wait until
  /// consent expires.
  private func detached() { endIfSilent(for: Self.silence, because: "the child's program has ended") }

  /// Ends the session unless something comes.
  private func endIfSilent(for time: TimeAmount, because reason: String) {
    guard let received else { return }
    let bound = NIOLoopBound(self, eventLoop: hub.eventLoop)
    hub.eventLoop.scheduleTask(in: time) {
      if bound.value.received == received { bound.value.end(.lost(reason)) }
    }
  }

  /// Packets so far; nil without a connection.
  private var received: UInt64? {
    peer.flatMap { hub.connection($0) }?.statistics(now: MonotonicClock.now).packetsReceived
  }

  private func openChannel() {
    guard channel.id == nil, let peer else { return }
    hub.with(peer) { connection, now in
      // A server without data channels has no `control` channel; watching does not need it.
      channel.id = try? connection.openDataChannel(
        DataChannelParameters(label: ControlLimits.channelLabel, protocolName: ControlLimits.protocolName), now: now)
    }
  }

  /// The network between us and the child has changed, so other addresses may work. If this does not help, consent
  /// expires and a new session is made.
  private func restartICE() {
    guard signaling.canRestart, let peer,
      let ours = try? hub.beginICERestart(peer)
    else { return }
    signaling.restartICE(ours)
  }

  /// The connection checks new addresses by itself. A restart announces them to the child, where it cannot see the checks.
  private func addressesChanged() {
    guard !isOver, let own = hub.ownAddresses else { return }
    signaling.addressesChanged(own)
    // Another allocation takes the place of a relay by itself.
    if let path, !path.isAtRelay, !own.contains(path.local) { restartICE() }
  }

  private func handle(_ event: SignalingEvent) {
    guard !isOver else { return }
    switch event {
    case .attached:
      restartICE()
    case .answered(let answer):
      accept(answer)
    case .candidates(let candidates, let isComplete):
      with { connection, now in
        for candidate in candidates { connection.addRemoteCandidate(candidate, now: now) }
        if isComplete { connection.addRemoteCandidate("", now: now) }
      }
    case .restarted(let ufrag, let pwd, let candidates):
      with { connection, now in
        // Fails when another restart has begun since; that one will be answered too.
        try? connection.completeICERestart(ufrag: ufrag, pwd: pwd, candidates: candidates, now: now)
      }
    case .waiting(let reason, let time):
      report(.waiting(reason, time))
    case .searching(let reason):
      report(.searching(reason))
    case .servers(let servers):
      lend(servers)
    case .detached:
      detached()
    case .over(let reason):
      end(reason)
    }
  }

  private func accept(_ answer: SessionDescription) {
    var failure: PeerConnectionError?
    with { connection, now in
      do throws(PeerConnectionError) {
        try connection.accept(answer, now: now)
      } catch {
        failure = error
      }
    }
    isAnswered = true
    if let failure { end(.refused("the answer does not fit: \(failure)")) }
  }

  private func with(_ body: (PeerConnection, Instant) -> Void) {
    if let peer { hub.with(peer, body) }
  }

  private func end(_ reason: SessionEnd) {
    guard !isOver else { return }
    var reason = reason
    // Both ends give up at about the same time; the other's goodbye says nothing of why.
    if case .lost = reason, isAnswered, let search {
      isAnswered = false
      if signaling.hasNoMedia(because: search.failure) { return }
      reason = .lost(search.failure)
    }
    leave {}
    notify(.over(reason))
  }

  private func report(_ event: Event) {
    if !isOver { notify(event) }
  }
}
