internal import Synchronization

/// What has been logged about one device: each sentence once, however often its state is reported.
final class LoggedRemarks: Sendable {
  private let known = Mutex<Set<String>>([])

  /// Those that are new.
  func news(of remarks: [String]) -> [String] {
    known.withLock { known in remarks.filter { known.insert($0).inserted } }
  }

  /// Sentences that are to be logged again.
  func forget(where isOver: (String) -> Bool) {
    known.withLock { known in known = known.filter { !isOver($0) } }
  }
}
