public import Signaling

/// A broker of MQTT 5 or 3.1.1. It needs nothing of ours: presence and messages are ordinary messages.
public struct MQTTPlace: Codable, Hashable, Sendable {
  /// `mqtt://HOST[:1883]` or `mqtts://HOST[:8883]` (`BrokerURL`).
  public var url: String
  public var username: String?
  /// Only with a user name.
  public var password: String?
  /// Stands before all topics (`MeetingTopics.isPrefix`).
  public var topic: String
  /// A file with the certificates of the authority that signs the broker's, in PEM; nil: those that this machine trusts.
  public var authorities: String?

  public init(
    url: String, username: String? = nil, password: String? = nil, topic: String = MeetingTopics.usualPrefix,
    authorities: String? = nil
  ) {
    self.url = url
    self.username = username
    self.password = password
    self.topic = topic
    self.authorities = authorities
  }

  /// Credentials of a length that every broker takes.
  private static let longestCredential = 4096

  /// Whether we can use what somebody has sent us.
  var isUsable: Bool {
    let credentials = [username, password].compactMap(\.self)
    return BrokerURL(url) != nil && MeetingTopics.isPrefix(topic) && (password == nil || username != nil)
      && credentials.allSatisfy { (1...Self.longestCredential).contains($0.utf8.count) && !$0.utf8.contains(0) }
  }
}
