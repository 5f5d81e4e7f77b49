public import Wire

/// Commands that have not been answered yet.
public struct PendingCommands: Sendable {
  /// A child that is reachable answers within a second, even to `screenshot.take`.
  public static let patience = Duration.seconds(10)
  private static let maximumPending = 64

  private struct Pending {
    var command: any ControlCommand.Type
    var deadline: Instant
  }

  private var pending: [String: Pending] = [:]
  private var lastNumber: UInt64 = 0

  public init() {}

  /// Assigns an id to the command. Throws `busy` when too many are unanswered.
  public mutating func add(_ command: some ControlCommand, now: Instant) throws(ControlError) -> ControlRequest {
    guard pending.count < Self.maximumPending else {
      throw ControlError(.busy, "The child has not answered \(Self.maximumPending) commands.")
    }
    lastNumber &+= 1
    let id = String(lastNumber)
    pending[id] = Pending(command: type(of: command), deadline: now + Self.patience)
    return ControlRequest(id: id, command: command)
  }

  /// The command with this id; nil when none is pending.
  public func command(of id: String) -> (any ControlCommand.Type)? { pending[id]?.command }

  /// The answer has arrived.
  public mutating func remove(_ id: String) { pending[id] = nil }

  public var nextDeadline: Instant? { pending.values.lazy.map(\.deadline).min() }

  /// Gives up on commands past their deadline, and returns their ids.
  public mutating func handleTimeout(now: Instant) -> [String] {
    let late = pending.filter { $0.value.deadline <= now }.map(\.key)
    for id in late { pending[id] = nil }
    return late
  }
}
