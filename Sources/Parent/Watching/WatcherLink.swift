/// From the threads of a watcher's players to the watcher, which owns them.
final class WatcherLink: @unchecked Sendable {
  /// Set once, before they start.
  weak var watcher: Watcher?
}
