internal import Frames
internal import ICE
internal import NIOCore
internal import PeerConnection
internal import SCTP
internal import SDP
internal import Server
internal import Signaling
internal import Wire

/// One viewing session from the offer to its end: the WHEP client and the peer connection that belong together.
/// Confined to the event loop.
final class WatchSession {
  enum Event {
    case connected
    /// No answer to consent checks for a while (RFC 7675); it may come back.
    case weak
    case waiting(WHEPRefusal, Duration)
    case message(ChildMessage)
    /// The last one. `wasRefused`: trying again as it is would not help.
    case over(String, wasRefused: Bool)
  }

  let peer: PeerID
  private let hub: PeerHub
  private let client: HTTPClient
  private var whep: WHEPClient
  private var timer: Scheduled<Void>?
  private var controlChannel: UInt16?
  /// The server is on this machine.
  private let isLocal: Bool
  private var isOver = false
  private var left: (() -> Void)?
  private let notify: (Event) -> Void

  /// Makes the offer and posts it.
  init(
    options: WatchOptions, client: HTTPClient, hub: PeerHub, notify: @escaping (Event) -> Void
  ) throws(WatchError) {
    self.hub = hub
    self.client = client
    self.notify = notify
    let configuration = MediaPlan.configuration(wantsVideo: options.wantsVideo, wantsAudio: options.wantsAudio)
    isLocal =
      switch options.url.origin.host {
      case .address(let address): address.isLoopback
      case .name(let name): name == "localhost"
      }
    let offer: SessionDescription
    do {
      (peer, offer) = try hub.offer(
        configuration: configuration, wantsDataChannel: true, includingLoopback: isLocal)
    } catch {
      throw WatchError("no peer connection could be made: \(error)")
    }
    whep = WHEPClient(
      configuration: WHEPClientConfiguration(url: options.url, token: options.token),
      random: SystemRandomNumberGenerator())
    perform(whep.start(offer: offer, now: MonotonicClock.now))
  }

  /// Ends the session; `then` is called when the server knows, or cannot be told.
  func leave(then: @escaping () -> Void) {
    left = then
    isOver = true
    hub.close(peer)
    perform(whep.leave(now: MonotonicClock.now))
    if whep.hasEnded { finishLeaving() }
  }

  /// What the peer connection has to say, media apart.
  func handle(_ event: PeerConnectionEvent) {
    guard !isOver else { return }
    switch event {
    case .stateChanged(.connected):
      openControlChannel()
      notify(.connected)
    case .stateChanged(.disconnected):
      notify(.weak)
      restartICE()
    case .stateChanged(.failed):
      end("the link is lost")
    case .stateChanged(.closed):
      end("the other side ended the session")
    case .dataChannelMessage(let id, .text(let text)) where id == controlChannel:
      if let message = ChildMessage(text) { notify(.message(message)) }
    default:
      break
    }
  }

  /// Something between us and the server has changed: other addresses may work. If this does not help either, consent
  /// runs out and the whole session is made anew.
  private func restartICE() {
    guard whep.isOpen, let ours = try? hub.beginICERestart(peer, includingLoopback: isLocal) else { return }
    perform(
      whep.restartICE(
        ufrag: ours.ufrag, pwd: ours.pwd, candidates: ours.candidates, isComplete: true, now: MonotonicClock.now))
  }

  private func completeRestart(_ theirs: WHEPRemoteICE) {
    hub.with(peer) { connection, now in
      // Another restart may have begun meanwhile; its answer comes too.
      try? connection.completeICERestart(
        ufrag: theirs.ufrag, pwd: theirs.pwd, candidates: theirs.candidates, now: now)
    }
  }

  private func openControlChannel() {
    guard controlChannel == nil else { return }
    hub.with(peer) { connection, now in
      // A server without data channels has no control either; watching does not need it.
      controlChannel = try? connection.openDataChannel(
        DataChannelParameters(label: ChildMessage.channelLabel, protocolName: ChildMessage.channelProtocol), now: now)
    }
  }

  private func perform(_ actions: [WHEPClientAction]) {
    for action in actions { perform(action) }
    timer?.cancel()
    timer = whep.nextDeadline.map { deadline in
      let bound = NIOLoopBound(self, eventLoop: hub.eventLoop)
      return hub.eventLoop.scheduleTask(in: .nanoseconds(max(0, (deadline - MonotonicClock.now).nanoseconds))) {
        bound.value.perform(bound.value.whep.handleTimeout(now: MonotonicClock.now))
      }
    }
  }

  private func perform(_ action: WHEPClientAction) {
    switch action {
    case .send(let request):
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
    case .waiting(let refusal, let time):
      notify(.waiting(refusal, time))
    case .answered(let answer, iceServers: _):
      accept(answer)
    case .addCandidates(let candidates, let isComplete):
      hub.with(peer) { connection, now in
        for candidate in candidates { connection.addRemoteCandidate(candidate, now: now) }
        if isComplete { connection.addRemoteCandidate("", now: now) }
      }
    case .failed(let error):
      var wasRefused = true
      if case .unreachable = error { wasRefused = false }
      end("\(error)", wasRefused: wasRefused)
    case .closed:
      finishLeaving()
    case .restarted(let theirs):
      completeRestart(theirs)
    case .restartFailed:
      break
    }
  }

  private func accept(_ answer: SessionDescription) {
    var failure: String?
    hub.with(peer) { connection, now in
      do throws(PeerConnectionError) {
        try connection.accept(answer, now: now)
      } catch {
        failure = "the server's answer does not fit: \(error)"
      }
    }
    if let failure { end(failure, wasRefused: true) }
  }

  private func end(_ reason: String, wasRefused: Bool = false) {
    guard !isOver else { return }
    isOver = true
    hub.close(peer)
    if whep.isOpen { perform(whep.leave(now: MonotonicClock.now)) }
    notify(.over(reason, wasRefused: wasRefused))
  }

  private func finishLeaving() {
    timer?.cancel()
    left?()
    left = nil
  }
}
