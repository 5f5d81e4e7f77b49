internal import SDP

/// The other side's candidates: those of an ICE session whose description has not arrived yet wait for it; duplicates
/// are dropped, and the number is bounded.
struct PairedCandidates: Sendable {
  enum Item: Hashable, Sendable {
    case candidate(String, sdpMid: String?)
    case end
  }

  /// The ICE session whose description we have, -1 before the first.
  private var revision = -1
  private var known: Set<Item> = []
  private var waiting: [(revision: Int, item: Item)] = []

  /// The item, when it can be used immediately. Nil for duplicates, for candidates of an ended ICE session, and for those
  /// that have to wait.
  mutating func add(_ item: Item, revision: Int) throws(SignalingRefusal) -> Item? {
    guard revision >= self.revision else { return nil }
    if revision == self.revision {
      guard known.count <= SDPLimits.candidates else { throw .tooManyCandidates }
      return known.insert(item).inserted ? item : nil
    }
    if waiting.contains(where: { $0 == (revision, item) }) { return nil }
    guard waiting.count <= SDPLimits.candidates else { throw .tooManyCandidates }
    waiting.append((revision, item))
    return nil
  }

  /// The description of this ICE session has arrived; returns the candidates that waited for it.
  mutating func begin(revision: Int) -> [Item] {
    self.revision = revision
    let ready = waiting.filter { $0.revision == revision }.map(\.item)
    known = Set(ready)
    waiting.removeAll { $0.revision <= revision }
    return ready
  }
}
