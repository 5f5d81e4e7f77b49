internal import Control
internal import Frames
internal import Logging
internal import NIOCore
internal import Storage
internal import Wire

/// The event log, and its copy on disk. Confined to the event loop; the disk is written beside it, for an SD card may
/// take a second.
final class PersistentEventLog {
  private var log: EventLog
  /// Nil when what is on disk must not be touched.
  private let store: EventStore?
  private let logger: Logger
  private var hasUnsaved = false
  private var hasFailed = false
  private var writer: WorkerThread?
  private var isWriting = false
  private var nextSave = MonotonicClock.now

  /// A power cut costs at most this much of the log, and an SD card sees at most one write in it.
  private static let interval: Duration = .seconds(30)

  /// Whatever is wrong on disk, the log begins; the node's log says so.
  init(in directory: StateDirectory, logger: Logger) {
    self.logger = logger
    do throws(FileError) {
      let store = EventStore(file: try directory.events())
      let (events, trouble) = try store.load()
      if let trouble { logger.warning("the log of events begins anew", metadata: ["reason": "\(trouble)"]) }
      log = EventLog(restored: events)
      self.store = store
    } catch {
      logger.warning("events are not kept over a restart", metadata: ["reason": "\(error)"])
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

  /// Each second.
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

  /// What failed is tried again at the next interval, and told once.
  private func written(_ result: Result<Void, StoreError>) {
    isWriting = false
    // What only the writing of JSON needed.
    MemorySettings.releaseUnused()
    guard case .failure(let error) = result else {
      hasFailed = false
      return
    }
    hasUnsaved = true
    if !hasFailed { logger.warning("the log of events could not be saved", metadata: ["reason": "\(error)"]) }
    hasFailed = true
  }

  /// Writes what is not on disk yet, and waits for it.
  func saveNow() {
    writer?.join()
    writer = nil
    guard let store, hasUnsaved || isWriting else { return }
    hasUnsaved = false
    written(Result { () throws(StoreError) in try store.save(log.all) })
  }
}
