internal import Linux
internal import NIOCore

/// One connection to a broker, from the event loop's side. A thread of its own serves it, because looking up a name may
/// take long. Confined to the event loop.
final class MQTTConnection {
  private let loop: any EventLoop
  private let mailbox = MQTTMailbox()
  private var receive: (MQTTEvent) -> Void
  private var isEnded = false
  /// Itself, while it says goodbye.
  private var leaving: MQTTConnection?

  private final class Reference {
    weak var connection: MQTTConnection?
  }

  /// Connects.
  ///
  /// - Parameter receive: called on the event loop, not from within this call.
  init(_ settings: MQTTSettings, eventLoop: any EventLoop, receive: @escaping (MQTTEvent) -> Void) {
    loop = eventLoop
    self.receive = receive
    let reference = Reference()
    let bound = NIOLoopBound(reference, eventLoop: loop)
    reference.connection = self
    let service = MQTTService(settings: settings, mailbox: mailbox) { [loop] in
      loop.execute { bound.value.connection?.drain() }
    }
    _ = WorkerThread(name: "mqtt") { service.run() }
  }

  deinit {
    if !isEnded { mailbox.end(.abandon) }
  }

  func publish(_ publication: MQTTPublication) {
    mailbox.publish(publication)
  }

  /// Ends without a goodbye: nothing is called any more, and the broker makes the will known.
  func abandon() {
    isEnded = true
    receive = { _ in }
    mailbox.end(.abandon)
  }

  /// Publishes `farewell`, and says goodbye. `done` is called once that has happened or cannot happen, and nothing else
  /// any more.
  func leave(_ farewell: MQTTPublication?, then done: @escaping () -> Void) {
    leaving = self
    receive = { [weak self] event in
      switch event {
      case .closed, .left:
        self?.receive = { _ in }
        self?.leaving = nil
        done()
      case .open, .message, .published: break
      }
    }
    mailbox.end(.leave(farewell))
  }

  private func drain() {
    for event in mailbox.takeEvents() {
      switch event {
      case .closed, .left: isEnded = true
      case .open, .message, .published: break
      }
      receive(event)
    }
  }
}
