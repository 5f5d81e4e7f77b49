internal import Synchronization

/// Whether anybody wants what a source makes. A source that is not wanted stays open and goes on taking frames off its
/// device, so that the next viewer has a picture at once, but converts and draws nothing.
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
