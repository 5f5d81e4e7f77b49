internal import Linux
internal import Synchronization

/// Between the event loop and the thread of one connection. Bounded both ways: what is too much is lost, as messages at a
/// broker may be.
final class MQTTMailbox: Sendable {
  enum Ending: Sendable {
    case none
    /// Publishes this, and says goodbye.
    case leave(MQTTPublication?)
    /// Ends without a word.
    case abandon
  }

  private struct State {
    var publications: [MQTTPublication] = []
    var ending = Ending.none
    var events: [MQTTEvent] = []
    /// The event loop knows that there are some.
    var isAnnounced = false
  }

  /// Wakes the thread.
  let wake = EventDescriptor()
  private let state = Mutex(State())

  private static let most = 256

  // MARK: - The event loop

  func publish(_ publication: MQTTPublication) {
    let isTaken = state.withLock { state in
      guard state.publications.count < Self.most else { return false }
      state.publications.append(publication)
      return true
    }
    if isTaken { wake.raise() }
  }

  func end(_ ending: Ending) {
    state.withLock { $0.ending = ending }
    wake.raise()
  }

  func takeEvents() -> [MQTTEvent] {
    state.withLock { state in
      state.isAnnounced = false
      defer { state.events = [] }
      return state.events
    }
  }

  // MARK: - The thread

  func takeOrders() -> (publications: [MQTTPublication], ending: Ending) {
    wake.clear()
    return state.withLock { state in
      defer { state.publications = [] }
      return (state.publications, state.ending)
    }
  }

  /// - Returns: whether the event loop has to be told.
  func post(_ event: MQTTEvent) -> Bool {
    state.withLock { state in
      if case .abandon = state.ending { return false }
      if case .message = event, state.events.count >= Self.most { return false }
      state.events.append(event)
      defer { state.isAnnounced = true }
      return !state.isAnnounced
    }
  }
}
