internal import Control
internal import Frames
internal import NIOCore
internal import PeerConnection
internal import SDP
internal import Server
internal import Signaling
internal import TURN
internal import Wire

/// Signalling by WHEP, with a URL and a token.
final class WHEPSignaling: SessionSignaling {
  var notify: (SignalingEvent) -> Void = { _ in }
  private let client: HTTPClient
  private var whep: WHEPClient
  private lazy var timer = DeadlineTimer(on: client.eventLoop, now: { MonotonicClock.now }) { [weak self] in
    guard let self else { return }
    perform(whep.handleTimeout(now: MonotonicClock.now))
  }
  private var left: (() -> Void)?
  private var isOver = false
  private let host: IPAddress?
  private let isLocal: Bool

  init(_ source: WHEPSource, client: HTTPClient) {
    self.client = client
    host = if case .address(let address) = source.url.origin.host { address } else { nil }
    isLocal = ChildAddress(host: source.url.origin.host, port: source.url.origin.port).isLoopback
    whep = WHEPClient(
      configuration: WHEPClientConfiguration(url: source.url, token: source.token),
      random: SystemRandomNumberGenerator())
  }

  /// The endpoint names them with its answer; until a session has had one, it has host candidates alone.
  var servers: [ICEServer] { [] }
  var canRestart: Bool { whep.isOpen }
  var reportsReasons: Bool { false }

  func start(makeOffer: @escaping (_ reach: NetworkReach) -> SessionDescription?) {
    guard let offer = makeOffer(isLocal ? .sameMachine : NetworkReach(local: nil, remote: host)) else { return }
    perform(whep.start(offer: offer, now: MonotonicClock.now))
  }

  func settle() {}

  func hasNoMedia(because reason: String) -> Bool { false }

  func restartICE(_ ours: RestartedICE) {
    perform(
      whep.restartICE(
        ufrag: ours.ufrag, pwd: ours.pwd, candidates: ours.candidates, isComplete: ours.isComplete,
        now: MonotonicClock.now))
  }

  func addLocalCandidate(_ candidate: String?) {
    let now = MonotonicClock.now
    perform(candidate.map { whep.addLocalCandidate($0, now: now) } ?? whep.endOfLocalCandidates(now: now))
  }

  /// A token is for one endpoint, at one address.
  func follow(_ away: AwayDocument) {}

  func addressesChanged(_ own: Set<IPAddress>) {
    client.addressesChanged(own)
  }

  /// Each request finds out by itself.
  func pathChanged(to remote: IPAddress?) {}

  func leave(then: @escaping () -> Void) {
    isOver = true
    left = then
    perform(whep.leave(now: MonotonicClock.now))
    if whep.hasEnded { finishLeaving() }
  }

  private func perform(_ actions: [WHEPClientAction]) {
    for action in actions { perform(action) }
    timer.set(whep.nextDeadline)
  }

  private func perform(_ action: WHEPClientAction) {
    switch action {
    case .send(let request): send(request)
    case .waiting(let refusal, let time): report(.waiting("\(refusal)", time))
    case .answered(let answer, iceServers: _): report(.answered(answer))
    case .addCandidates(let candidates, let isComplete): report(.candidates(candidates, isComplete: isComplete))
    case .failed(let error):
      if case .unreachable = error { report(.over(.lost("\(error)"))) } else { report(.over(.refused("\(error)"))) }
    case .closed: finishLeaving()
    case .restarted(let theirs):
      report(.restarted(ufrag: theirs.ufrag, pwd: theirs.pwd, candidates: theirs.candidates))
    case .restartFailed: break
    }
  }

  private func send(_ request: WHEPClientRequest) {
    guard request.url.origin == client.origin else {
      return perform(
        whep.requestFailed(
          request.id, reason: "it redirects to \(request.url.origin), which was not named", now: MonotonicClock.now))
    }
    client.send(request) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let response):
        self.perform(self.whep.receive(response, for: request.id, now: MonotonicClock.now))
      case .failure(let error):
        self.perform(self.whep.requestFailed(request.id, reason: "\(error)", now: MonotonicClock.now))
      }
    }
  }

  private func report(_ event: SignalingEvent) {
    guard !isOver else { return }
    if case .over = event { isOver = true }
    notify(event)
  }

  private func finishLeaving() {
    timer.cancel()
    left?()
    left = nil
  }
}
