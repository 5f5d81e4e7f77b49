import Logging
import Synchronization

/// What was logged, each message with its metadata. Copies share it.
struct CollectedLog: LogHandler {
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
  }

  private let lines = Lines()
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace
  var all: [String] { lines.all.withLock { $0 } }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    lines.all.withLock { $0.append("\(event.message)\(details)") }
  }
}
