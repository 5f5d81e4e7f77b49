internal import NIOCore
internal import Signaling

/// A parent at an MQTT broker: it reads the child's presence and what is said to it, and leaves messages for the child.
final class MQTTLink: MeetingLinkTransport {
  private let place: MQTTPlace
  private let program: MeetingProgram
  private let child: String
  private let client: String
  private let topics: MeetingTopics
  private let loop: any EventLoop
  private var connection: MQTTConnection?

  /// In seconds.
  private static let keepalive: Int32 = 30
  /// In seconds. A child answers within seconds, or has gone.
  private static let expiry: UInt32 = 30

  init(_ place: MQTTPlace, child: String, client: String, program: MeetingProgram, eventLoop: any EventLoop) {
    self.place = place
    self.program = program
    self.child = child
    self.client = client
    topics = MeetingTopics(prefix: place.topic, child: child)
    loop = eventLoop
  }

  func connect(report: @escaping (MeetingLinkMachine.Input) -> Void) {
    let settings = MQTTSettings(
      place: place, client: client, keepalive: Self.keepalive,
      subscriptions: [
        MQTTSubscription(topic: topics.presence, wantsRetained: true),
        MQTTSubscription(topic: topics.outbox(client), wantsRetained: false),
      ])
    connection = MQTTConnection(settings, program: program, eventLoop: loop) { [weak self] event in
      if let input = self?.input(event) { report(input) }
    }
  }

  /// The subscription does.
  func ask() {}

  func send(_ request: RoomRequest) {
    guard case .send(child, let message) = request else { return }
    let text = RoomMessages.text(.message(RoomDelivery(from: client, message: message)))
    connection?.order(MQTTPublication(topic: topics.inbox, text: text, expirySeconds: Self.expiry))
  }

  func drop() { connection?.abandon() }

  func leave() { connection?.leave() }

  private func input(_ event: MQTTConnection.Event) -> MeetingLinkMachine.Input? {
    switch event {
    case .open: .connected
    case .received(.message(let message)): input(message)
    case .received(.published(topics.inbox, let refusal?)):
      .lost("this account may not send messages to the child: \(refusal)")
    case .closed(let reason), .tooCostly(let reason): .lost(reason)
    case .received, .left: nil
    }
  }

  private func input(_ message: MQTTMessage) -> MeetingLinkMachine.Input? {
    if message.topic == topics.presence {
      // What cannot be a presence changes nothing.
      guard message.text.utf8.count <= Presence.maximumBytes else { return nil }
      return .presence(message.text.isEmpty ? nil : message.text)
    }
    guard message.topic == topics.outbox(client), let reply = try? RoomMessages.reply(message.text)
    else { return nil }
    switch reply {
    case .message(let delivery): return delivery.from == child ? .reply(reply) : nil
    case .error: return .reply(reply)
    // A child says nothing else there.
    case .registered, .proved, .presence, .vouched: return nil
    }
  }
}
