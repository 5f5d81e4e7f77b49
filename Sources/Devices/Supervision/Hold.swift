internal import Synchronization

/// Closes a device for a while, and has it opened again afterwards, however short that was.
public final class Hold: Sendable {
  /// How often it began or ended: odd while it lasts.
  private let turns = Atomic<UInt64>(0)

  public init() {}

  /// Begins, or ends.
  public func turn() { turns.add(1, ordering: .relaxed) }

  var count: UInt64 { turns.load(ordering: .relaxed) }
  var isActive: Bool { !count.isMultiple(of: 2) }
}
