internal import NIOCore
internal import PeerConnection
internal import SDP
internal import Signaling

/// Answers that wait until STUN and TURN servers have given their candidates: WHEP has no way to send them to a player
/// later. RFC 9725 section 4.3.
///
/// Confined to the event loop.
final class UnsentAnswers {
  private struct Unsent {
    var answer: SessionDescription
    /// Of the section whose transport all the others share.
    var section: Int
    var limit: Scheduled<Void>
    var send: (Result<SessionDescription, Problem>) -> Void
  }

  private let loop: any EventLoop
  private var unsent: [WHEPSessionID: Unsent] = [:]

  /// A player gives up on an answer after a few seconds. What a server has given by then is sent.
  private static let patience: TimeAmount = .seconds(2)

  init(on loop: any EventLoop) {
    self.loop = loop
  }

  /// - Parameter send: called once: with all candidates, with those of two seconds, or when the session has ended.
  func hold(
    _ answer: SessionDescription, of session: WHEPSessionID,
    send: @escaping (Result<SessionDescription, Problem>) -> Void
  ) {
    let tagged = answer.bundle?.first
    guard let section = answer.media.firstIndex(where: { tagged == nil ? $0.port != 0 : $0.mid == tagged }) else {
      return send(.success(answer))
    }
    let limit = loop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
      if let self { release(session) }
    }
    unsent[session] = Unsent(answer: answer, section: section, limit: limit, send: send)
  }

  func observe(_ event: ViewerEvent) {
    switch event {
    case .connection(let viewer, .localCandidate(let candidate)):
      guard let session = viewer.whepSession, let section = unsent[session]?.section else { return }
      unsent[session]?.answer.media[section].candidates.append(candidate)
    case .connection(let viewer, .localCandidatesComplete):
      guard let session = viewer.whepSession, let section = unsent[session]?.section else { return }
      unsent[session]?.answer.media[section].endOfCandidates = true
      release(session)
    case .ended(let viewer):
      guard let session = viewer.whepSession, let ended = unsent.removeValue(forKey: session) else { return }
      ended.limit.cancel()
      ended.send(.failure(Problem(503, "the session ended before it began")))
    default: break
    }
  }

  private func release(_ session: WHEPSessionID) {
    guard let ready = unsent.removeValue(forKey: session) else { return }
    ready.limit.cancel()
    ready.send(.success(ready.answer))
  }
}

extension ViewerSession {
  fileprivate var whepSession: WHEPSessionID? {
    if case .whep(let id, _) = origin { id } else { nil }
  }
}
