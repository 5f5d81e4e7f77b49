internal import CMosquitto
internal import NIOCore
internal import Signaling
internal import Wire

/// One connection to a broker. It asks for a clean session: what was meant for an earlier one is of no use.
struct MQTTSettings: Codable, Sendable {
  var place: MQTTPlace
  /// The client identifier: another connection with the same one takes this one's place.
  var client: String
  /// In seconds. The broker gives a client up after one and a half (MQTT 5 section 3.1.2.10).
  var keepalive: Int32
  var subscriptions: [MQTTSubscription]
  /// A topic whose retained message the broker deletes when the connection ends without a goodbye.
  var will: String?
}

/// With quality of service 1.
struct MQTTSubscription: Codable, Sendable {
  var topic: String
  /// The message that the broker has kept for whoever comes. What anybody may leave there is of no use else, and comes again
  /// with every connection.
  var wantsRetained: Bool
}

enum MQTTVersion: CaseIterable, Sendable {
  case five
  /// 3.1.1.
  case three

  /// As libmosquitto counts them.
  var number: Int32 { self == .five ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311 }
}

struct MQTTMessage: Codable, Sendable {
  var topic: String
  var text: String

  /// Longer ones are left out.
  static let maximumBytes = 64 * 1024
  private static let longestTopic = 1024

  var isOfOurLength: Bool { text.utf8.count <= Self.maximumBytes && topic.utf8.count <= Self.longestTopic }
}

/// With quality of service 1.
struct MQTTPublication: Codable, Sendable {
  var topic: String
  /// An empty retained one deletes what is retained.
  var text: String
  var isRetained = false
  /// The broker forgets what it could not deliver within this time; nil: never. MQTT 5 only.
  var expirySeconds: UInt32?
}

enum MQTTIncoming: MeetingIncoming {
  case message(MQTTMessage)
  /// The broker has accepted a publication, or says why not.
  case published(topic: String, refusal: String?)

  var isMessage: Bool { if case .message = self { true } else { false } }

  func checked() throws(WireError) -> MQTTIncoming {
    switch self {
    case .message(let message):
      guard message.isOfOurLength else { throw .malformed("a message is too long") }
      return self
    case .published(let topic, let refusal): return .published(topic: topic, refusal: refusal?.printable())
    }
  }
}

typealias MQTTConnection = MeetingConnection<MQTTPublication, MQTTIncoming>

extension MQTTConnection {
  convenience init(
    _ settings: MQTTSettings, program: MeetingProgram, eventLoop: any EventLoop,
    receive: @escaping (MQTTConnection.Event) -> Void
  ) {
    self.init(
      name: "mqtt", program: program, errand: .mqtt(settings), eventLoop: eventLoop, receive: receive)
  }
}

enum MQTTProblem: Error, Sendable {
  /// For a person.
  case lost(String)
  /// The other side has closed the connection without a word.
  case closed
  /// What came is no packet of the version that we speak.
  case malformed
  /// The broker does not know this version.
  case unsupportedVersion
  /// Nobody wants to know any more.
  case abandoned
}
