/// A meeting place, as configured at the child and handed to its parents.
public enum MeetingPlace: Hashable, Sendable {
  /// `cradle-rendezvous`: rooms over WebSocket.
  case rendezvous(RendezvousPlace)
  /// Any MQTT broker.
  case mqtt(MQTTPlace)
  /// Any XMPP server.
  case xmpp(XMPPPlace)
}

/// A room server that many children share.
public struct RendezvousPlace: Hashable, Sendable {
  /// `wss://HOST[:443][/signal]`.
  public var url: String
  /// SHA-256 over the SubjectPublicKeyInfo of the server's key, 32 bytes, where its certificate is not signed by an
  /// authority that machines trust.
  public var keySHA256: [UInt8]?

  public init(url: String, keySHA256: [UInt8]? = nil) {
    self.url = url
    self.keySHA256 = keySHA256
  }
}
