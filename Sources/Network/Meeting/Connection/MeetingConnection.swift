internal import Linux
internal import NIOCore

/// One connection to a server, from the event loop's side. A thread of its own serves it, because looking up a name may
/// take long. Confined to the event loop.
final class MeetingConnection<Order: Sendable, Event: MeetingConnectionEvent> {
  typealias Mailbox = MeetingMailbox<Order, Event>

  private let loop: any EventLoop
  private let mailbox = Mailbox()
  private var receive: (Event) -> Void
  private var isEnded = false
  /// Itself, while it says goodbye.
  private var leaving: MeetingConnection?

  private final class Reference {
    weak var connection: MeetingConnection?
  }

  /// Connects.
  ///
  /// - Parameters:
  ///   - name: of the thread.
  ///   - serve: the thread. It calls `announce` when `post` says so.
  ///   - receive: called on the event loop, not from within this call.
  init(
    name: String, eventLoop: any EventLoop,
    serve: @escaping @Sendable (_ mailbox: Mailbox, _ announce: @escaping @Sendable () -> Void) -> Void,
    receive: @escaping (Event) -> Void
  ) {
    loop = eventLoop
    self.receive = receive
    let reference = Reference()
    let bound = NIOLoopBound(reference, eventLoop: loop)
    reference.connection = self
    _ = WorkerThread(name: name) { [loop, mailbox] in
      serve(mailbox) { loop.execute { bound.value.connection?.drain() } }
    }
  }

  deinit {
    if !isEnded { mailbox.end(.abandon) }
  }

  func order(_ order: Order) {
    mailbox.order(order)
  }

  /// Ends without a goodbye: nothing is called any more, and the server says that we are gone.
  func abandon() {
    isEnded = true
    receive = { _ in }
    mailbox.end(.abandon)
  }

  /// Does `farewell`, and says goodbye. `done` is called once that has happened or cannot happen, and nothing else
  /// any more.
  func leave(_ farewell: Order?, then done: @escaping () -> Void) {
    leaving = self
    receive = { [weak self] event in
      guard event.isLast else { return }
      self?.receive = { _ in }
      self?.leaving = nil
      done()
    }
    mailbox.end(.leave(farewell))
  }

  private func drain() {
    for event in mailbox.takeEvents() {
      if event.isLast { isEnded = true }
      receive(event)
    }
  }
}
