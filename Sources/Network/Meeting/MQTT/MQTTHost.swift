internal import NIOCore
internal import Signaling
internal import Wire

/// The child at an MQTT broker. interfaces/wire.md, "Meeting places".
final class MQTTHost: MeetingHostTransport {
  private let place: MQTTPlace
  private let program: MeetingProgram
  private let child: String
  private let topics: MeetingTopics
  private let loop: any EventLoop
  private var connection: MQTTConnection?
  /// The presence has been announced, so it has to be deleted.
  private var isAnnounced = false
  private var bucket = TokenBucket.ofOneConnection

  /// In seconds. A pair of pings in two minutes, as at a `cradle-rendezvous`. The broker gives us up after three.
  private static let keepalive: Int32 = 120
  /// In seconds. A parent waits no longer.
  private static let expiry: UInt32 = 30
  /// In seconds. An announced presence counts no longer, and it is announced again before.
  private static let presenceExpiry: UInt32 = 2 * 3600

  init(_ place: MQTTPlace, child: String, program: MeetingProgram, eventLoop: any EventLoop) {
    self.place = place
    self.program = program
    self.child = child
    topics = MeetingTopics(prefix: place.topic, child: child)
    loop = eventLoop
  }

  func connect(report: @escaping (MeetingHostMachine.Input) -> Void) {
    isAnnounced = false
    let settings = MQTTSettings(
      place: place, client: "cradle-\(child)", keepalive: Self.keepalive,
      subscriptions: [MQTTSubscription(topic: topics.inbox, wantsRetained: false)], will: topics.presence)
    connection = MQTTConnection(settings, program: program, eventLoop: loop) { [weak self] event in
      if let input = self?.input(event) { report(input) }
    }
  }

  func send(_ request: RoomRequest) {
    switch request {
    case .announce(let presence): announce(presence)
    case .send(let client, let message): reply(to: client, .message(RoomDelivery(from: child, message: message)))
    case .dismiss(let client, let reason): reply(to: client, .error(RoomError(.refused, reason)))
    // A broker lets everybody stay.
    case .register, .prove, .vouch: break
    }
  }

  private func announce(_ presence: String) {
    isAnnounced = true
    connection?.order(
      MQTTPublication(
        topic: topics.presence, text: presence, isRetained: true, expirySeconds: Self.presenceExpiry))
  }

  func drop() {
    connection?.abandon()
    connection = nil
  }

  /// One that is connecting is not abandoned: it may be about to say our name, and would push out whoever comes next with it.
  func leave(then done: @escaping () -> Void) {
    let farewell = MQTTPublication(topic: topics.presence, text: "", isRetained: true)
    connection?.leave(isAnnounced ? farewell : nil, then: done)
  }

  private func reply(to client: String, _ reply: RoomReply) {
    guard MeetingTopics.isClient(client) else { return }
    connection?.order(
      MQTTPublication(topic: topics.outbox(client), text: RoomMessages.text(reply), expirySeconds: Self.expiry))
  }

  private func input(_ event: MQTTConnection.Event) -> MeetingHostMachine.Input? {
    switch event {
    case .open: .connected
    case .received(.published(topics.presence, nil)): .present
    case .received(.published(topics.presence, let refusal?)):
      .lost("this account may not publish \(topics.presence): \(refusal)")
    case .received(.message(let message)): delivery(message).map { .message(from: $0.from, $0.message) }
    case .closed(let reason), .tooCostly(let reason): .lost(reason)
    case .received, .left: nil
    }
  }

  /// Anybody with a password of the broker may have sent it.
  private func delivery(_ message: MQTTMessage) -> RoomDelivery? {
    guard message.topic == topics.inbox, case .admitted = bucket.admit(now: .ofEventLoop),
      case .message(let delivery)? = try? RoomMessages.reply(message.text), MeetingTopics.isClient(delivery.from)
    else { return nil }
    return delivery
  }
}
