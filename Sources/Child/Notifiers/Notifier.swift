internal import Control
internal import Frames
internal import Logging
internal import NIOCore
internal import Notifications
internal import Storage
internal import Synchronization
internal import Wire

/// Delivers events to one address, in order, over its own event loop, so that neither a slow server nor a slow disk
/// delays anything else. What is undelivered survives restarts.
///
/// `@unchecked Sendable` because it is confined to its event loop, apart from the inbox and the status behind mutexes.
final class Notifier: @unchecked Sendable {
  let destination: any NotifierDestination
  /// What came of a try that was final, or of a delivery; on the loop.
  private let concluded: (DeliveryOutcome) -> Void
  private let loop: any EventLoop
  /// A picture of the room, JPEG; nil where there is none.
  private let takePicture: @Sendable (any EventLoop) -> EventLoopFuture<[UInt8]?>
  private let logger: Logger
  /// Nil when the file must not be touched.
  private let store: NotificationStore?
  private var queue: NotificationQueue
  private var delivery: NotifierDelivery?
  private var tests: [ObjectIdentifier: NotifierDelivery] = [:]
  private var timer: Scheduled<Void>?
  private var save: Scheduled<Void>?
  private var nextSave = MonotonicClock.now
  private var saved: [Notification]
  private var hasSaveFailed = false
  /// What has been logged once and is not repeated until something was delivered.
  private var isTroubleLogged = false
  private let losses = LogCounts<String>(interval: .seconds(3600))
  private var isStopped = false
  private var delivered = 0
  private var lastError: String?
  private let inbox = Mutex<[Notification]>([])
  private let shown = Mutex(Figures())

  private struct Figures {
    var delivered = 0
    var waiting = 0
    var failuresInARow = 0
    var lastError: String?
  }

  /// Several events within this time cause one write of the queue; a power cut loses at most what came within it.
  private static let saveInterval: Duration = .seconds(1)

  /// A picture shows what was when it was taken: a message that comes later than this goes without.
  private static let pictureAge: Duration = .seconds(30)
  /// Whatever keeps a picture from coming, the message goes without it then.
  private static let picturePatience: TimeAmount = .seconds(5)

  /// - Parameters:
  ///   - concluded: called with what came of each notification that is not tried again.
  ///   - takePicture: for destinations that want one.
  ///   - openFile: the file for what is undelivered.
  init(
    _ destination: any NotifierDestination, loop: any EventLoop, logger: Logger,
    concluded: @escaping (DeliveryOutcome) -> Void = { _ in },
    takePicture: @escaping @Sendable (any EventLoop) -> EventLoopFuture<[UInt8]?> = { $0.makeSucceededFuture(nil) },
    openFile: () throws(FileError) -> AtomicFile
  ) {
    self.destination = destination
    self.concluded = concluded
    self.loop = loop
    self.takePicture = takePicture
    self.logger = logger
    do throws(FileError) {
      let store = NotificationStore(file: try openFile())
      let (restored, trouble) = try store.load()
      if let trouble {
        logger.warning(
          "undelivered notifications were unreadable",
          metadata: ["notifier": "\(destination.name)", "reason": "\(trouble)"])
      }
      self.store = store
      saved = restored
    } catch {
      logger.warning(
        "undelivered notifications will not survive a restart",
        metadata: ["notifier": "\(destination.name)", "reason": "\(error)"])
      store = nil
      saved = []
    }
    queue = NotificationQueue(restored: saved)
  }

  /// Begins with what an earlier run has left.
  func start() {
    loop.execute { self.advance() }
  }

  // MARK: From any thread

  /// Takes the event if the notifier wants it. Never blocks for long.
  func note(_ event: EventDocument) {
    guard destination.filter.admits(event) else { return }
    let isFirst = inbox.withLock { inbox in
      inbox.append(Notification(event))
      // The loop hangs, probably on the disk.
      _ = inbox.removeSurplus(beyond: NotificationQueue.capacity)
      return inbox.count == 1
    }
    if isFirst { loop.execute { self.takeInbox() } }
  }

  var status: StatusReport.Notifier {
    shown.withLock { figures in
      StatusReport.Notifier(
        name: destination.name,
        state: figures.failuresInARow > 0 ? "failing" : figures.waiting > 0 ? "sending" : "idle",
        delivered: figures.delivered, waiting: figures.waiting, failuresInARow: figures.failuresInARow,
        lastError: figures.lastError)
    }
  }

  /// Sends a test message beside the queue, once. Succeeds whatever comes of it.
  func test() -> EventLoopFuture<NotifyTests.Row> {
    let promise = loop.makePromise(of: NotifyTests.Row.self)
    loop.execute {
      let began = MonotonicClock.now
      let message = Notification.test(time: MonotonicClock.unixTime)
      self.picture(for: message) { picture in
        var key: ObjectIdentifier?
        let test = NotifierDelivery(message, picture: picture, loop: self.loop) { outcome in
          if let key { self.tests[key] = nil }
          self.concluded(outcome)
          promise.succeed(
            NotifyTests.Row(
              name: self.destination.name, delivered: outcome.isDelivered, detail: self.destination.words(for: outcome),
              milliseconds: Int((MonotonicClock.now - began).nanoseconds / 1_000_000)))
        }
        key = ObjectIdentifier(test)
        self.tests[ObjectIdentifier(test)] = test
        test.start(self.destination)
      }
    }
    return promise.futureResult
  }

  /// Writes what is undelivered and ends deliveries.
  func stop() -> EventLoopFuture<Void> {
    loop.submit {
      self.takeInbox()
      self.isStopped = true
      self.timer?.cancel()
      self.delivery?.cancel()
      self.delivery = nil
      self.save?.cancel()
      self.write()
    }
  }

  /// Ends deliveries and forgets what is undelivered, on disk, too. Tests that are under way go on.
  func discard() {
    loop.execute {
      self.isStopped = true
      self.timer?.cancel()
      self.delivery?.cancel()
      self.delivery = nil
      self.save?.cancel()
      self.store?.remove()
    }
  }

  // MARK: On the loop

  private func takeInbox() {
    let new = inbox.withLock { inbox in
      defer { inbox = [] }
      return inbox
    }
    guard !isStopped else { return }
    for notification in new where queue.append(notification) {
      guard let count = losses.count("loss", now: MonotonicClock.now) else { continue }
      logger.warning(
        "notifications are lost: more wait than are kept",
        metadata: ["notifier": "\(destination.name)", "lost": "\(count)"])
    }
    saveSoon()
    advance()
  }

  private func advance() {
    show()
    guard !isStopped, delivery == nil else { return }
    timer?.cancel()
    let now = MonotonicClock.now
    if let notification = queue.poll(now: now) {
      picture(for: notification) { [weak self] picture in
        guard let self, !isStopped else { return }
        let delivery = NotifierDelivery(notification, picture: picture, loop: loop) { [weak self] in self?.finished($0)
        }
        self.delivery = delivery
        delivery.start(destination)
      }
    } else if let deadline = queue.nextDeadline {
      timer = loop.scheduleTask(in: .nanoseconds(max(0, (deadline - now).nanoseconds))) { [weak self] in
        self?.advance()
      }
    }
  }

  /// Calls back at once where none is wanted.
  private func picture(for notification: Notification, then start: @escaping @Sendable ([UInt8]?) -> Void) {
    let age = Duration.seconds(saturating: MonotonicClock.unixTime - notification.time)
    guard destination.wantsPicture, age < Self.pictureAge else { return start(nil) }
    let waiting = NIOLoopBoundBox(Optional(start), eventLoop: loop)
    let finish: @Sendable ([UInt8]?) -> Void = { picture in
      waiting.value?(picture)
      waiting.value = nil
    }
    let patience = loop.scheduleTask(in: Self.picturePatience) { finish(nil) }
    takePicture(loop).whenComplete { result in
      patience.cancel()
      finish((try? result.get()) ?? nil)
    }
  }

  private func finished(_ outcome: DeliveryOutcome) {
    delivery = nil
    let verdict = queue.finish(outcome, random: .random(in: 0...UInt32.max), now: MonotonicClock.now)
    let name: Logger.Metadata = ["notifier": "\(destination.name)"]
    switch verdict {
    case .delivered:
      if isTroubleLogged { logger.info("notifications are delivered again", metadata: name) }
      isTroubleLogged = false
      delivered += 1
      lastError = nil
    case .retried, .givenUp:
      lastError = destination.words(for: outcome)
      if !isTroubleLogged {
        let isKept = verdict != .givenUp
        logger.warning(
          isKept ? "a notification could not be delivered; trying again" : "a notification was refused",
          metadata: name.merging(["reason": "\(outcome.words)"]) { $1 })
      }
      isTroubleLogged = true
    }
    if case .retried = verdict {} else { concluded(outcome) }
    saveSoon()
    // Not from within a delivery that failed at once.
    loop.execute { self.advance() }
  }

  private func show() {
    let figures = Figures(
      delivered: delivered, waiting: queue.waiting.count, failuresInARow: queue.failuresInARow, lastError: lastError)
    shown.withLock { $0 = figures }
  }

  // MARK: The disk

  private func saveSoon() {
    guard save == nil, !isStopped else { return }
    let wait = max(0, (nextSave - MonotonicClock.now).nanoseconds)
    guard wait > 0 else { return write() }
    save = loop.scheduleTask(in: .nanoseconds(wait)) { [weak self] in self?.write() }
  }

  private func write() {
    save = nil
    let waiting = queue.waiting
    guard let store, waiting != saved else { return }
    nextSave = MonotonicClock.now + Self.saveInterval
    do throws(StoreError) {
      try store.save(waiting)
      saved = waiting
      hasSaveFailed = false
    } catch {
      if !hasSaveFailed {
        logger.warning(
          "undelivered notifications could not be saved",
          metadata: ["notifier": "\(destination.name)", "reason": "\(error)"])
      }
      hasSaveFailed = true
    }
  }
}
