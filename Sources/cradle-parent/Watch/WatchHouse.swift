import Desktop
import Frames
import Parent
import Synchronization
import Wire

/// The rooms that are watched at once: each has a desk of its own, and keys are for one of them.
final class WatchHouse: Sendable {
  let desks: [WatchDesk]
  let screen: Screen
  /// Nil: without a window.
  let inbox: WindowInbox?
  private let state: Mutex<State>

  private struct State {
    var views: [WatchView]
    /// The room that keys are for.
    var chosen = 0
    var content: WindowRooms
  }

  /// - Parameters:
  ///   - leftOut: the names of rooms that are paired and not watched.
  ///   - quit: called when a key ends it.
  init(
    _ views: [WatchView], leftOut: [String], screen: Screen, hasWindow: Bool, quit: @escaping @Sendable () -> Void
  ) {
    let content = WindowRooms(views, leftOut: leftOut, now: MonotonicClock.now)
    let (inbox, link) = (hasWindow ? WindowInbox(content) : nil, Link())
    self.screen = screen
    self.inbox = inbox
    state = Mutex(State(views: views, content: content))
    desks = views.enumerated().map { room, view in
      WatchDesk(view, room: room, screen: screen, shown: { link.house?.show($0, room: room) }, quit: quit)
    }
    link.house = self
  }

  /// From the desks to the house that owns them.
  private final class Link: @unchecked Sendable {
    /// Set once, before anything happens at a desk.
    weak var house: WatchHouse?
  }

  private func show(_ view: WatchView, room: Int) {
    state.withLock { state in
      state.views[room] = view
      update(room, &state)
    }
    screen.show(view, room: room)
  }

  private func update(_ room: Int, _ state: inout State) {
    guard let inbox else { return }
    state.content.update(room, state.views, chosen: state.chosen, now: MonotonicClock.now)
    inbox.update(state.content)
  }

  func close() {
    for desk in desks { desk.close() }
    inbox?.end()
  }

  // MARK: Keys

  /// - Parameter isHeld: whether `release` reports when the key is released.
  func press(_ character: Character, isHeld: Bool) {
    guard desks.count > 1 else { return desks[0].press(character, isHeld: isHeld) }
    let (chosen, views) = state.withLock { ($0.chosen, $0.views) }
    switch WatchKey(rawValue: character) {
    case .room: choose((chosen + 1) % desks.count)
    case .acknowledge: desks[WatchRooms.answered(views, chosen: chosen)].press(character, isHeld: isHeld)
    case nil: if let number = character.wholeNumberValue { choose(number - 1) }
    default: desks[chosen].press(character, isHeld: isHeld)
    }
  }

  func release(_ character: Character) {
    // Another room may have been chosen while the key was held.
    for desk in desks { desk.release(character) }
  }

  /// Keys are for this room from now on; there may be none of that number.
  func choose(_ room: Int) {
    guard desks.indices.contains(room) else { return }
    let isNew = state.withLock { state in
      guard state.chosen != room else { return false }
      state.chosen = room
      update(room, &state)
      return true
    }
    guard isNew else { return }
    screen.choose(room)
    if screen.isLive { screen.say("keys are for \(desks[room].view.name) now") }
  }
}
