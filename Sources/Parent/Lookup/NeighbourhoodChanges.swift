public import Discovery

/// The differences between two states of the network.
public struct NeighbourhoodChanges: Sendable {
  private var known: [String: DiscoveredChild] = [:]
  private var saidProblem: DiscoveryProblem?

  public enum Change: Hashable, Sendable {
    /// It is new, or its announcement has changed.
    case here(DiscoveredChild)
    case gone(DiscoveredChild)
    /// Discovery does not work, for this reason. Reported once for each reason.
    case trouble(DiscoveryProblem)
  }

  public init() {}

  /// The changes since the last call, in the order in which to show them.
  public mutating func update(_ now: Neighbourhood) -> [Change] {
    var changes: [Change] = []
    if let problem = now.problem, problem != saidProblem {
      saidProblem = problem
      changes.append(.trouble(problem))
    }
    // Several machines may claim the same id; the name tells them apart.
    let present = Dictionary(now.children.map { ("\($0.id) \($0.name)", $0) }) { first, _ in first }
    changes += known.filter { present[$0.key] == nil }.values.sorted { $0.name < $1.name }.map { .gone($0) }
    changes += now.children.filter { known["\($0.id) \($0.name)"] != $0 }.map { .here($0) }
    known = present
    return changes
  }
}
