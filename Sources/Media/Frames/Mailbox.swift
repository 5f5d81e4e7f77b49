internal import Glibc
public import Wire

/// A bounded queue between two threads. When it is full the oldest element is dropped: newest wins.
/// A capacity of one is the video path's latest-frame slot.
public final class Mailbox<Element: Sendable>: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private let capacity: Int
  private var elements: [Element] = []
  private var closed = false
  /// Threads waiting inside `take`.
  private var waiting = 0

  public init(capacity: Int) {
    precondition(capacity > 0, "a mailbox holds at least one element")
    self.capacity = capacity
    lock = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
    elements.reserveCapacity(capacity)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(lock)
    condition.deallocate()
    lock.deallocate()
  }

  /// Adds an element; returns false if that displaced an older one. Does nothing after `close`.
  ///
  /// - Parameter count: waiting threads are not woken for fewer elements.
  @discardableResult
  public func put(_ element: Element, wakingFor count: Int = 1) -> Bool {
    pthread_mutex_lock(lock)
    guard !closed else {
      pthread_mutex_unlock(lock)
      return true
    }
    let isFull = elements.count == capacity
    let oldest = isFull ? elements.removeFirst() : nil
    elements.append(element)
    let isAwaited = waiting > 0 && elements.count >= min(count, capacity)
    pthread_mutex_unlock(lock)
    // Signalling under the lock would wake the other thread only to wait for the lock. The displaced element is also
    // freed here, outside the lock.
    if isAwaited { pthread_cond_signal(condition) }
    return withExtendedLifetime(oldest) { !isFull }
  }

  /// The oldest element; waits for one until `deadline` (forever if nil). Nil at the deadline and once closed.
  public func take(until deadline: Instant? = nil) -> Element? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    waiting += 1
    defer { waiting -= 1 }
    while elements.isEmpty, !closed {
      guard let deadline else {
        pthread_cond_wait(condition, lock)
        continue
      }
      let (seconds, rest) = max(0, deadline.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
      var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
      if pthread_cond_timedwait(condition, lock, &time) == ETIMEDOUT, elements.isEmpty { return nil }
    }
    return elements.isEmpty || closed ? nil : elements.removeFirst()
  }

  /// Wakes every waiter and discards the elements.
  public func close() {
    pthread_mutex_lock(lock)
    closed = true
    elements.removeAll()
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(lock)
  }

  /// Whether `close` was called.
  public var isClosed: Bool {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return closed
  }
}
