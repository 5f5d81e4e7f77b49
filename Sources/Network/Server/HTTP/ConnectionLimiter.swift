internal import Glibc
internal import NIOCore
internal import Synchronization
internal import Wire

/// Limits connections to the HTTPS port, across all event loops: `ConnectionTable` and `WriteBacklog` with real connections.
final class ConnectionLimiter: Sendable {
  typealias ID = ConnectionTable.ID
  typealias Handler = NIOLoopBound<ConnectionLimiterHandler>

  private struct State {
    var table: ConnectionTable
    var backlog: WriteBacklog
    var handlers: [ID: Handler] = [:]
  }

  private let state: Mutex<State>

  init(limits: ConnectionTable.Limits, backlog: WriteBacklog.Limits = WriteBacklog.Limits()) {
    state = Mutex(State(table: ConnectionTable(limits: limits), backlog: WriteBacklog(limits: backlog)))
  }

  /// File descriptors reserved for everything except client connections: devices, files, sockets, libraries.
  private static let otherDescriptors = 96

  /// Limits places to the available file descriptors. When accept(2) fails there is no new connection to make room for,
  /// and devices that are plugged in again need descriptors too.
  static func places(atMost wanted: Int) -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
    let open = Int(clamping: limit.rlim_cur)
    return max(8, min(wanted, open - otherDescriptors))
  }

  static var now: Instant { Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

  func enter(_ handler: Handler, from address: IPAddress?) -> ID? {
    let (id, evicted) = state.withLock { state -> (ID?, Handler?) in
      guard let (id, evicted) = state.table.enter(from: address) else { return (nil, nil) }
      let gone = evicted.flatMap { state.handlers.removeValue(forKey: $0) }
      state.handlers[id] = handler
      return (id, gone)
    }
    if let evicted { Self.close([evicted]) }
    return id
  }

  func move(_ id: ID, to address: IPAddress) {
    state.withLock { $0.table.move(id, to: address) }
  }

  func leave(_ id: ID) {
    state.withLock { state in
      state.table.leave(id)
      state.backlog.remove(id)
      state.handlers[id] = nil
    }
  }

  func greet(_ id: ID) -> Duration? {
    state.withLock { $0.table.greet(id, now: Self.now) }
  }

  func ask(_ id: ID) -> Duration? {
    state.withLock { $0.table.ask(id, now: Self.now) }
  }

  func raise(_ id: ID, to standing: ConnectionStanding) {
    state.withLock { $0.table.raise(id, to: standing) }
  }

  /// The credentials that have places.
  var credentials: [String] { state.withLock { $0.table.credentials } }

  /// - Parameter current: what has become of the credentials; those that are missing give their places back.
  func review(_ current: [String: ConnectionCredential]) {
    state.withLock { state in state.table.review { current[$0] } }
  }

  /// So much waits for the connection's client, and so much it has taken. Closes those that leave too much unread.
  ///
  /// - Returns: when to close this connection unless its client has taken more.
  func update(_ id: ID, waiting: Int, taken: Int) -> Instant? {
    let (deadline, closed) = state.withLock { state -> (Instant?, [Handler]) in
      // One that is being closed counts no more.
      guard state.handlers[id] != nil else { return (nil, []) }
      let closed = state.backlog.update(
        id, from: state.table.address(of: id), waiting: waiting, taken: taken, now: Self.now)
      return (state.backlog.deadline(of: id), closed.compactMap { state.handlers[$0] })
    }
    Self.close(closed)
    return deadline
  }

  /// When to close the connection unless its client has taken more; nil when nothing waits for it.
  func deadline(of id: ID) -> Instant? { state.withLock { $0.backlog.deadline(of: id) } }

  private static func close(_ handlers: [Handler]) {
    for handler in handlers { handler.eventLoop.execute { handler.value.close() } }
  }
}
