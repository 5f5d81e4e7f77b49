internal import Frames
internal import Linux
internal import NIOCore
internal import Storage
internal import Wire

/// The event store and its thread: an SD card may take a second for a commit, and a report reads thousands of rows.
/// Confined to the event loop, but for the store, which only the thread uses.
final class EventWriter {
  /// What the thread is asked for.
  private enum Job: Sendable {
    case work(@Sendable (EventStore) -> Void)
    case end
  }

  private let jobs = Mailbox<Job>(capacity: 256)
  /// Stays empty; closed when the store is.
  private let end = Mailbox<Never>(capacity: 1)
  private let thread: WorkerThread
  private let loop: any EventLoop
  /// Jobs that have not come back; below the mailbox's capacity, which would drop the oldest.
  private var waiting = 0
  private static let maximumWaiting = 64

  init(_ store: EventStore, loop: any EventLoop) {
    self.loop = loop
    // The thread alone holds the store, so that its end closes it.
    let handedOver = Mailbox<EventStore>(capacity: 1)
    handedOver.put(store)
    thread = WorkerThread(name: "events") { [jobs, end] in
      Self.serve(jobs, handedOver)
      end.close()
    }
  }

  private static func serve(_ jobs: Mailbox<Job>, _ handedOver: Mailbox<EventStore>) {
    guard let store = handedOver.take() else { return }
    while case .work(let work)? = jobs.take() { work(store) }
  }

  /// More are waiting than should be; do not ask for what can be refused.
  var isBusy: Bool { waiting >= Self.maximumWaiting }

  /// Has the thread do something; the result comes on the loop.
  func perform<Value: Sendable>(
    _ work: @escaping @Sendable (EventStore) throws(StoreError) -> Value
  ) -> EventLoopFuture<Value> {
    waiting += 1
    let promise = loop.makePromise(of: Value.self)
    let bound = NIOLoopBound(self, eventLoop: loop)
    let loop = loop
    jobs.put(
      .work { store in
        let result = Result { () throws(StoreError) in try work(store) }
        loop.execute {
          bound.value.waiting -= 1
          promise.completeWith(result.mapError { $0 })
        }
      })
    return promise.futureResult
  }

  /// Has the thread do something and waits for it, at most as long as a stop may take. Nil: the disk hangs.
  func wait<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable (EventStore) -> Value
  ) -> Value? {
    let answer = Mailbox<Value>(capacity: 1)
    jobs.put(.work { store in answer.put(work(store)) })
    return answer.take(until: MonotonicClock.now + limit)
  }

  /// Ends the thread after what it has been asked for, and waits until the store is closed, at most so long.
  func close(within limit: Duration) {
    jobs.put(.end)
    _ = end.take(until: MonotonicClock.now + limit)
  }
}
