public import Wire

/// The commands that a parent waits for an answer to.
public struct PendingCommands: Sendable {
  /// A child that is there answers within a second, even with a screenshot.
  public static let patience = Duration.seconds(10)
  private static let most = 64

  private struct Pending {
    var name: CommandName
    var deadline: Instant
  }

  private var pending: [String: Pending] = [:]
  private var lastNumber: UInt64 = 0

  public init() {}

  /// Gives the command its id. Throws `busy` when too many are unanswered.
  public mutating func add(_ command: ControlCommand, now: Instant) throws(ControlError) -> ControlRequest {
    guard pending.count < Self.most else {
      throw ControlError(.busy, "The child has not answered \(Self.most) commands.")
    }
    lastNumber &+= 1
    let id = String(lastNumber)
    pending[id] = Pending(name: command.name, deadline: now + Self.patience)
    return ControlRequest(id: id, command: command)
  }

  /// What was asked under this id; nil for what nobody waits for.
  public func name(of id: String) -> CommandName? { pending[id]?.name }

  /// The answer came.
  public mutating func remove(_ id: String) { pending[id] = nil }

  public var nextDeadline: Instant? { pending.values.lazy.map(\.deadline).min() }

  /// The ids of the commands given up now.
  public mutating func handleTimeout(now: Instant) -> [String] {
    let late = pending.filter { $0.value.deadline <= now }.map(\.key)
    for id in late { pending[id] = nil }
    return late
  }
}
