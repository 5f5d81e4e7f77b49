internal import Control
internal import NIOCore
internal import PeerConnection
internal import SDP
internal import Signaling
internal import TURN
internal import Wire

/// Signalling with a paired child through its room: no token, both sides know each other by their keys.
final class RoomSignaling: SessionSignaling {
  var notify: (SignalingEvent) -> Void = { _ in }
  private var connection: RoomConnection?
  private var makeOffer: ((NetworkReach) -> SessionDescription?)?

  init(_ child: PairedChild, eventLoop: any EventLoop) {
    connection = RoomConnection(child, eventLoop: eventLoop) { [weak self] event in self?.handle(event) }
  }

  var servers: [ICEServer] { connection?.child.away.servers ?? [] }
  var canRestart: Bool { connection?.isUsable ?? false }
  var tellsReasons: Bool { canRestart }

  func start(makeOffer: @escaping (_ reach: NetworkReach) -> SessionDescription?) {
    self.makeOffer = makeOffer
    connection?.open()
  }

  func settle() {
    connection?.settle()
  }

  func hasNoMedia(because reason: String) -> Bool {
    connection?.hasNoMedia(because: reason) ?? false
  }

  func restartICE(_ ours: RestartedICE) {
    // All sections share one transport, so the candidates may be listed under any of them.
    let section = TrickleFragment.Section(mid: "0", candidates: ours.candidates, endOfCandidates: ours.isComplete)
    let fragment = TrickleFragment(ufrag: ours.ufrag, pwd: ours.pwd, sections: [section])
    connection?.perform { $0.restartICE(fragment, now: $1) }
  }

  func addLocalCandidate(_ candidate: String?) {
    connection?.perform { session, _ in
      candidate.map { session.addLocalCandidate($0, sdpMid: "0") } ?? session.endOfLocalCandidates()
    }
  }

  func follow(_ away: AwayDocument) {
    connection?.child.away.follow(away)
  }

  func addressesChanged(_ own: Set<IPAddress>) {
    connection?.addressesChanged(own)
  }

  func pathChanged(to remote: IPAddress?) {
    connection?.pathChanged(to: remote)
  }

  func leave(then: @escaping () -> Void) {
    notify = { _ in }
    connection?.perform { session, _ in session.leave() }
    connection?.close()
    connection = nil
    then()
  }

  private func handle(_ event: RoomConnection.Event) {
    switch event {
    case .connected(let reach):
      guard let offer = makeOffer?(reach) else { return }
      connection?.perform { $0.start(offer: offer, now: $1) }
    case .unreachable(let reason): end(.lost(reason))
    case .notMet(let reason): notify(.searching(reason))
    case .detached: notify(.detached)
    case .action(let action): handle(action)
    }
  }

  private func handle(_ action: PairedParentAction) {
    switch action {
    case .answered(let answer): notify(.answered(answer))
    case .attached: notify(.attached)
    case .replaced: notify(.detached)
    case .addCandidate(let candidate, sdpMid: _): notify(.candidates([candidate], isComplete: false))
    case .remoteCandidatesComplete: notify(.candidates([], isComplete: true))
    case .restarted(let theirs):
      guard let ufrag = theirs.ufrag, let pwd = theirs.pwd else { return }
      notify(.restarted(ufrag: ufrag, pwd: pwd, candidates: theirs.candidates))
    case .failed(let error): end(SessionEnd(error))
    case .ended(let reason): end(SessionEnd(reason))
    // Forged messages change nothing. If no other message arrives, the time-out error mentions them.
    case .iceServers(let servers):
      let lender = LendingPlace(address: connection?.placeAddress)
      notify(
        .servers(
          servers.compactMap { told in
            var server = ICEServer(told.urls, told.username, told.credential)
            server?.lender = lender
            return server
          }))
    case .refused, .restartFailed, .send: break
    }
  }

  private func end(_ end: SessionEnd) {
    connection?.close()
    connection = nil
    notify(.over(end))
  }
}

extension SessionEnd {
  init(_ error: PairedSessionError) {
    switch error {
    case .dismissed(let reason): self.init(reason)
    case .room, .connectionLost, .absent, .noPresence, .timedOut: self = .lost("\(error)")
    }
  }

  init(_ reason: ByeReason) {
    switch reason {
    case .notPaired: self = .unpaired
    case .expired: self = .refused("the pairing has expired; pair again with `cradle-parent pair`")
    case .notAcceptable: self = .refused("\(PairedSessionError.dismissed(reason))")
    case .left, .busy: self = .lost("\(PairedSessionError.dismissed(reason))")
    case .goingAway: self = .stopped("\(PairedSessionError.dismissed(reason))")
    }
  }
}
