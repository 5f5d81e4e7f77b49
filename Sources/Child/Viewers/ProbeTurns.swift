/// Whose path may be probed: all viewers share this machine's interface, so one after the other.
struct ProbeTurns<ID: Hashable & Sendable>: Sendable {
  private var last: ID?

  /// Gives back who may probe until the next call: the one after the last, of those who want to. Nil: nobody wants to.
  ///
  /// - Parameter viewers: all of them, always in the same order.
  mutating func next(_ viewers: [(id: ID, wants: Bool)]) -> ID? {
    let begin = viewers.firstIndex { $0.id == last }.map { $0 + 1 } ?? 0
    let order = viewers[begin...] + viewers[..<begin]
    guard let next = order.first(where: \.wants) else { return nil }
    last = next.id
    return next.id
  }
}
