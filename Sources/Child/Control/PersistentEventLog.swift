internal import Control
internal import Frames
internal import Linux
internal import Logging
internal import NIOCore
internal import Storage
internal import Wire

/// The event log and its copy on disk. Confined to the event loop; a separate thread writes to disk, because an SD card
/// may take a second.
final class PersistentEventLog {
  private var log: EventLog
  /// Nil when the file must not be touched.
  private let store: EventStore?
  private let logger: Logger
  private var hasUnsaved = false
  private var hasFailed = false
  private var writer: WorkerThread?
  private var isWriting = false
  private var nextSave = MonotonicClock.now

  /// A power cut loses at most this much of the log. Also limits how often the SD card is written.
  private static let interval: Duration = .seconds(30)

  /// Starts even if the file is unusable, and logs the reason.
  init(in directory: StateDirectory, logger: Logger) {
    self.logger = logger
    do throws(FileError) {
      let store = EventStore(file: try directory.events())
      let (events, trouble) = try store.load()
      if let trouble {
        logger.warning("the event log was unreadable and starts empty", metadata: ["reason": "\(trouble)"])
      }
      log = EventLog(restored: events)
      self.store = store
    } catch {
      logger.warning("events will not survive a restart", metadata: ["reason": "\(error)"])
      log = EventLog()
      self.store = nil
    }
  }

  func append(_ kind: EventKind, time: Double, name: String?, id: String?, detail: String?) -> EventDocument {
    hasUnsaved = true
    return log.append(kind, time: time, name: name, id: id, detail: detail)
  }

  /// `events.get`.
  func events(since: UInt64?, limit: Int?) -> [EventDocument] { log.events(since: since, limit: limit) }

  /// Call it each second.
  func saveWhenDue(on loop: any EventLoop) {
    guard let store, hasUnsaved, !isWriting, MonotonicClock.now >= nextSave else { return }
    hasUnsaved = false
    isWriting = true
    nextSave = MonotonicClock.now + Self.interval
    writer?.join()
    let bound = NIOLoopBound(self, eventLoop: loop)
    writer = WorkerThread(name: "events") { [events = log.all] in
      let result = Result { () throws(StoreError) in try store.save(events) }
      loop.execute { bound.value.written(result) }
    }
  }

  /// A failure is logged once and retried at the next interval.
  private func written(_ result: Result<Void, StoreError>) {
    isWriting = false
    // Encoding the JSON needed memory that nothing else will use.
    MemorySettings.releaseUnused()
    guard case .failure(let error) = result else {
      hasFailed = false
      return
    }
    hasUnsaved = true
    if !hasFailed { logger.warning("the event log could not be saved", metadata: ["reason": "\(error)"]) }
    hasFailed = true
  }

  /// Writes unsaved events. Blocks.
  func saveNow() {
    writer?.join()
    writer = nil
    guard let store, hasUnsaved || isWriting else { return }
    hasUnsaved = false
    written(Result { () throws(StoreError) in try store.save(log.all) })
  }
}
