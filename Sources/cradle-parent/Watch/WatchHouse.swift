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
  private let chosen = Mutex(0)

  /// - Parameter quit: called when a key ends it.
  init(_ views: [WatchView], screen: Screen, hasWindow: Bool, quit: @escaping @Sendable () -> Void) {
    let inbox = hasWindow ? WindowInbox(WindowContent(views[0], now: MonotonicClock.now)) : nil
    self.screen = screen
    self.inbox = inbox
    desks = views.enumerated().map { WatchDesk($1, room: $0, screen: screen, inbox: inbox, quit: quit) }
  }

  func close() {
    for desk in desks { desk.close() }
    inbox?.end()
  }

  // MARK: Keys

  /// - Parameter isHeld: whether `release` reports when the key is released.
  func press(_ character: Character, isHeld: Bool) {
    guard desks.count > 1 else { return desks[0].press(character, isHeld: isHeld) }
    let chosen = chosen.withLock { $0 }
    switch WatchKey(rawValue: character) {
    case .room: choose((chosen + 1) % desks.count)
    case .acknowledge: desks[WatchRooms.answered(desks.map(\.view), chosen: chosen)].press(character, isHeld: isHeld)
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
    chosen.withLock { $0 = room }
    screen.choose(room)
    screen.say("keys are for \(desks[room].view.name) now")
  }
}
