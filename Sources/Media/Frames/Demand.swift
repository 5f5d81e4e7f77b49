internal import Synchronization

/// Whether anyone wants a source's frames. A source without demand stays open and keeps taking frames off its device,
/// so that the next viewer has a picture at once, but converts and draws nothing.
public final class Demand: Sendable {
  private let wanted: Atomic<Bool>

  public init(isWanted: Bool = false) {
    wanted = Atomic(isWanted)
  }

  public var isWanted: Bool {
    get { wanted.load(ordering: .relaxed) }
    set { wanted.store(newValue, ordering: .relaxed) }
  }
}
