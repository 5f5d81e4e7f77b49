internal import Glibc
internal import Linux
internal import Synchronization
internal import Wire

/// Between the event loop and the thread of one connection. Bounded both ways: what is too much is lost, as messages at a
/// meeting place may be.
final class MeetingMailbox<Order: Sendable, Incoming: MeetingIncoming>: Sendable {
  typealias Event = MeetingEvent<Incoming>

  enum Ending: Sendable {
    case none
    /// Does this, and says goodbye.
    case leave(Order?)
    /// Ends without a word.
    case abandon
  }

  private struct State {
    var orders: [Order] = []
    var ending = Ending.none
    var events: [Event] = []
    /// The event loop wants to know nothing more; it may end.
    var isUnheard = false
    /// The event loop knows that there are some.
    var isAnnounced = false
  }

  /// Wakes the thread.
  private let wake = EventDescriptor()
  private let state = Mutex(State())

  private static var most: Int { 256 }

  // MARK: - The event loop

  func order(_ order: Order) {
    let isTaken = state.withLock { state in
      guard state.orders.count < Self.most else { return false }
      state.orders.append(order)
      return true
    }
    if isTaken { wake.raise() }
  }

  /// - Parameter isUnheard: the event loop wants to know nothing more, and may end.
  func end(_ ending: Ending, isUnheard: Bool = false) {
    state.withLock { state in
      state.ending = ending
      state.isUnheard = isUnheard
      if isUnheard { state.events = [] }
    }
    wake.raise()
  }

  func takeEvents() -> [Event] {
    state.withLock { state in
      state.isAnnounced = false
      defer { state.events = [] }
      return state.events
    }
  }

  // MARK: - The thread

  func takeOrders() -> (orders: [Order], ending: Ending) {
    wake.clear()
    return state.withLock { state in
      defer { state.orders = [] }
      return (state.orders, state.ending)
    }
  }

  /// Until the descriptor is ready, a command comes or the time is over.
  ///
  /// - Parameter descriptor: negative: only commands are waited for.
  /// - Returns: what the descriptor is ready for.
  func wait(_ descriptor: Int32, for events: Int16, until end: ContinuousClock.Instant) -> Int16 {
    var entries = [
      pollfd(fd: descriptor, events: events, revents: 0),
      pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = max(.zero, ContinuousClock.now.duration(to: end)) / .milliseconds(1)
    poll(&entries, 2, Int32(clamping: Int(saturating: milliseconds.rounded(.up))))
    return entries[0].revents
  }

  /// Does `body` while the event loop is there: it ends after it has said that it wants to know nothing more.
  func whileHeard(_ body: () -> Void) {
    state.withLock { state in
      if case .abandon = state.ending { return }
      if !state.isUnheard { body() }
    }
  }

  /// - Returns: whether the event loop has to be notified.
  func post(_ event: Event) -> Bool {
    state.withLock { state in
      if case .abandon = state.ending { return false }
      if state.isUnheard { return false }
      if event.isMessage, state.events.count >= Self.most { return false }
      state.events.append(event)
      defer { state.isAnnounced = true }
      return !state.isAnnounced
    }
  }
}
