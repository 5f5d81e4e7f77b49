import Desktop
import FoundationEssentials
import Storage

/// The window of `watch`, on the program's first thread.
struct WatchWindow {
  private let closed: Task<Void, Never>

  /// Whether there is a desktop.
  static var isPossible: Bool { ViewerWindow.isPossible(environment: ProcessInfo.processInfo.environment) }

  /// Opens it.
  ///
  /// - Parameters:
  ///   - closed: called when a person has closed it.
  ///   - failed: called when there is none, with the reason.
  init(
    _ inbox: WindowInbox, store: WindowMemoryStore, isFullScreen: Bool, house: WatchHouse,
    closed: @escaping @Sendable () -> Void, failed: @escaping @Sendable (String) -> Void
  ) {
    var options = ViewerWindow.Options()
    options.isFullScreen = isFullScreen
    // A file that cannot be read is not overwritten either: the place is then not remembered.
    var mayRemember = true
    do {
      options.memory = try store.load()
    } catch {
      house.desks[0].say("\(error)")
      mayRemember = false
    }
    let (start, remembers) = (options, mayRemember)
    self.closed = Task {
      await MainThread.run {
        do throws(DesktopError) {
          let window = try ViewerWindow(inbox, options: start) { key in
            switch key {
            case .pressed(let key): house.press(key, isHeld: true)
            case .released(let key): house.release(key)
            case .chose(let room): house.choose(room)
            }
          } remember: { memory in
            if remembers { try? store.save(memory) }
          }
          if window.run() { closed() }
        } catch {
          failed("\(error)")
        }
      }
    }
  }

  /// Returns when it is closed.
  func whenClosed() async {
    await closed.value
  }
}
