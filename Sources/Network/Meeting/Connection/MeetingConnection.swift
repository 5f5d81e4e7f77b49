internal import Linux
internal import NIOCore
internal import Synchronization

/// One connection to a server, from the event loop's side. A process of its own serves it, because libraries in C read what
/// the server sends, and a thread of ours speaks with that process. Confined to the event loop.
final class MeetingConnection<Order: Codable & Sendable, Incoming: MeetingIncoming> {
  typealias Mailbox = MeetingMailbox<Order, Incoming>
  typealias Event = MeetingEvent<Incoming>

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
  ///   - program: of the process.
  ///   - errand: what it is to do.
  ///   - receive: called on the event loop, not from within this call.
  init(
    name: String, program: MeetingProgram, errand: MeetingErrand, eventLoop: any EventLoop,
    receive: @escaping (Event) -> Void
  ) {
    loop = eventLoop
    self.receive = receive
    let reference = Reference()
    let bound = NIOLoopBound(reference, eventLoop: loop)
    reference.connection = self
    if let reason = CostlyServers.known.withLock({ $0.refusal(errand.server, now: .ofEventLoop) }) {
      isEnded = true
      loop.execute { bound.value.connection?.receive(.closed(reason)) }
      return
    }
    _ = WorkerThread(name: name) { [loop, mailbox] in
      let announce = { @Sendable in mailbox.whileHeard { loop.execute { bound.value.connection?.drain() } } }
      let blame = { @Sendable reason in
        CostlyServers.known.withLock { $0.add(errand.server, reason: reason, now: .ofEventLoop) }
      }
      MeetingPump(program: program, errand: errand, mailbox: mailbox, announce: announce, blame: blame).run()
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
    guard !isEnded else {
      receive = { _ in }
      let bound = NIOLoopBound(done, eventLoop: loop)
      return loop.execute { bound.value() }
    }
    leaving = self
    receive = { [weak self] event in
      guard event.isLast else { return }
      self?.receive = { _ in }
      self?.leaving = nil
      done()
    }
    mailbox.end(.leave(farewell))
  }

  /// Says goodbye, if there is time for it. Nothing is called any more, and the event loop may end at once.
  func leave() {
    isEnded = true
    receive = { _ in }
    mailbox.end(.leave(nil), isUnheard: true)
  }

  private func drain() {
    for event in mailbox.takeEvents() {
      if event.isLast { isEnded = true }
      receive(event)
    }
  }
}
