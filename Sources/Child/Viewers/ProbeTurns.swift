internal import NIOCore
internal import PeerConnection
internal import Server

/// Whose path may be probed: all viewers share this machine's interface, so one after the other.
struct ProbeTurns<ID: Hashable & Sendable>: Sendable {
  private var last: ID?

  /// Gives back who may probe until the next call: the one after the last, of those who want to. Nil: nobody wants to.
  ///
  /// - Parameter viewers: all of them, in an order that stays.
  mutating func next(_ viewers: [(id: ID, wants: Bool)]) -> ID? {
    let begin = viewers.firstIndex { $0.id == last }.map { $0 + 1 } ?? 0
    let order = viewers[begin...] + viewers[..<begin]
    guard let next = order.first(where: \.wants) else { return nil }
    last = next.id
    return next.id
  }
}

extension Viewers {
  /// Longer than a burst and its way there and back.
  static let probeInterval: TimeAmount = .milliseconds(250)

  /// Lets the next viewer probe, and nobody else. One viewer alone always may.
  func passProbeTurn() {
    let sessions = registry.byAge.filter(\.isConnected)
    let turn = probeTurns.next(
      sessions.map { ($0.peer, hub.connection($0.peer)?.wantsProbe ?? false) })
    for session in sessions {
      hub.connection(session.peer)?.setMayProbe(sessions.count == 1 || session.peer == turn)
    }
  }
}
