internal import Control
internal import Frames
internal import Logging
internal import NIOCore
internal import NightReport
internal import Pairing
internal import Storage
internal import Wire

/// The event log: the latest events in memory, all of a year in the event store. Confined to the event loop; a separate
/// thread uses the store.
///
/// Without a store, or while it cannot be written, the child runs on with the events in memory.
final class PersistentEventLog {
  private var log: EventLog
  /// Nil when there is no store.
  private let writer: EventWriter?
  private let logger: Logger
  private let loop: any EventLoop
  private let date: @Sendable () -> UnixTime
  /// The number of the latest event that is on the disk.
  private var committed: UInt64
  /// Minutes that are not on the disk yet.
  private var minutes: [MinuteRecord] = []
  private var isCommitting = false
  /// An event of level alarm waits for a commit.
  private var isUrgent = false
  private var hasFailed = false
  private var nextCommit = MonotonicClock.now
  private var nextTrim = MonotonicClock.now

  /// A power cut loses at most this much of the log, alarms excepted. Also limits how often the SD card is written.
  private static let interval: Duration = .seconds(30)
  /// Earlier with so many events waiting: half of what the memory holds.
  private static let batch: UInt64 = 256
  /// A day, for a disk that is full meanwhile.
  private static let maximumMinutes = 24 * 60
  private static let trimInterval: Duration = .seconds(3600)
  /// Stopping may take five seconds in all.
  private static let patience: Duration = .seconds(2)

  /// Starts even if the store is unusable, and logs the reason.
  ///
  /// - Parameter date: what is a year older is removed.
  init(
    in directory: StateDirectory, loop: any EventLoop, date: @escaping @Sendable () -> UnixTime, logger: Logger
  ) {
    self.date = date
    self.logger = logger
    self.loop = loop
    do throws(StoreError) {
      let opening = try EventStore.open(in: directory)
      for warning in opening.warnings { logger.warning("\(warning)") }
      if opening.carriedOver > 0 {
        logger.notice(
          "the events of an earlier version are in the store now", metadata: ["events": "\(opening.carriedOver)"])
      }
      log = EventLog(restored: try opening.store.events(since: nil, limit: EventLog.defaultCapacity))
      committed = log.lastSequence
      writer = EventWriter(opening.store, loop: loop)
    } catch {
      logger.error("events will not survive a restart, and there is no night report", metadata: ["reason": "\(error)"])
      log = EventLog()
      committed = 0
      writer = nil
    }
  }

  func append(
    _ kind: EventKind, level: EventLevel? = nil, time: Double, name: String?, id: String?, detail: String?,
    began: Double? = nil, acknowledgedAt: Double? = nil, count: Int? = nil
  ) -> EventDocument {
    let event = log.append(
      kind, level: level, time: time, name: name, id: id, detail: detail, began: began,
      acknowledgedAt: acknowledgedAt, count: count)
    if event.isAtLeast(.alarm) {
      isUrgent = true
      commit()
    } else if log.lastSequence - committed >= Self.batch, !hasFailed {
      commit()
    }
    return event
  }

  func append(_ minute: MinuteRecord) {
    if minutes.count >= Self.maximumMinutes { minutes.removeFirst() }
    minutes.append(minute)
  }

  // MARK: Reading

  /// `events.get`.
  func events(since: UInt64?, limit: Int?, level: EventLevel?) -> EventLoopFuture<[EventDocument]> {
    let inMemory = log.events(since: since, limit: limit, level: level)
    guard let writer, !writer.isBusy else { return loop.makeSucceededFuture(inMemory) }
    let limit = max(1, limit ?? ControlDefaults.eventLimit)
    // A number in the future refers to a log that was lost.
    let since = since.flatMap { $0 <= log.lastSequence ? $0 : nil }
    let pending = log.after(committed).filter { event in level.map(event.isAtLeast) ?? true }
    return writer.perform { store throws(StoreError) in
      var events = try store.events(since: since, limit: limit, level: level)
      // What was committed meanwhile is among them.
      let last = events.last?.sequence ?? since ?? 0
      events += pending.filter { $0.sequence > last }
      return Array(since == nil ? events.suffix(limit) : events.prefix(limit))
    }.flatMapErrorThrowing { _ in inMemory }
  }

  /// `report.get`.
  func report(_ request: ReportGet, now: Double) -> EventLoopFuture<ReportDocument> {
    guard let writer else {
      return loop.makeFailedFuture(
        ControlError(.unavailable, "The camera cannot store its events; its log has the reason."))
    }
    guard !writer.isBusy else {
      return loop.makeFailedFuture(ControlError(.busy, "The camera's disk is slow at the moment; try again."))
    }
    // The request's limits keep them within the numbers of an Int64.
    let (from, to) = (Int64(exactly: request.from.rounded(.down)) ?? 0, Int64(exactly: request.to.rounded(.up)) ?? 0)
    let noiseDb = request.noiseDb ?? ControlDefaults.noiseDb
    let time = Int64(exactly: now.rounded(.down)) ?? 0
    let (events, minutes) = (Array(log.after(committed)), minutes)
    let bound = NIOLoopBound(self, eventLoop: loop)
    return writer.perform { store throws(StoreError) in
      // A report is asked for now and then, and is to be of all that is known.
      try store.append(events, minutes: minutes)
      return try store.report(from: from, to: to, now: time, noiseDb: noiseDb)
    }.map { report in
      bound.value.stored(events.last?.sequence ?? 0, minutes)
      MemorySettings.releaseUnused()
      return report
    }.flatMapErrorThrowing { error in
      throw ControlError(.unavailable, "The camera cannot read its events: \(error)")
    }
  }

  // MARK: Writing

  /// Call it each second.
  func saveWhenDue() {
    let now = MonotonicClock.now
    if now >= nextTrim, let writer, !isCommitting {
      nextTrim = now + Self.trimInterval
      let time = Double(date().seconds)
      let bound = NIOLoopBound(self, eventLoop: loop)
      writer.perform { store throws(StoreError) in try store.trim(now: time) }.whenFailure { error in
        bound.value.failed(error)
      }
    }
    guard hasUnsaved, now >= nextCommit else { return }
    commit()
  }

  private var hasUnsaved: Bool { log.lastSequence > committed || !minutes.isEmpty }

  private func commit() {
    guard let writer, !isCommitting, hasUnsaved else { return }
    isCommitting = true
    isUrgent = false
    nextCommit = MonotonicClock.now + Self.interval
    let (events, minutes) = (Array(log.after(committed)), minutes)
    let bound = NIOLoopBound(self, eventLoop: loop)
    writer.perform { store throws(StoreError) in
      try store.append(events, minutes: minutes)
    }.whenComplete { result in
      bound.value.isCommitting = false
      switch result {
      case .success: bound.value.stored(events.last?.sequence ?? 0, minutes)
      case .failure(let error): bound.value.failed(error)
      }
    }
  }

  private func stored(_ sequence: UInt64, _ written: [MinuteRecord]) {
    if hasFailed { logger.notice("the event store can be written again") }
    hasFailed = false
    committed = max(committed, sequence)
    minutes.removeAll { written.contains($0) }
    if isUrgent { commit() }
  }

  /// A failure is logged once and retried at the next interval.
  private func failed(_ error: any Error) {
    if !hasFailed {
      logger.error(
        "the event store cannot be written; it is left out for now and tried again",
        metadata: ["reason": "\(error)"])
    }
    hasFailed = true
  }

  /// Writes what is not saved yet. Blocks, but not for long when the disk hangs.
  func saveNow() {
    guard let writer, hasUnsaved else { return }
    let (events, minutes) = (Array(log.after(committed)), minutes)
    let result = writer.wait(Self.patience) { store in
      Result { () throws(StoreError) in try store.append(events, minutes: minutes) }
    }
    switch result {
    case .success: stored(events.last?.sequence ?? 0, minutes)
    case .failure(let error): failed(error)
    case nil: logger.error("the disk hangs; the latest events are lost")
    }
  }

  /// Writes what is left and closes the store. Blocks, but not for long when the disk hangs.
  func close() {
    saveNow()
    writer?.close(within: Self.patience)
  }
}
