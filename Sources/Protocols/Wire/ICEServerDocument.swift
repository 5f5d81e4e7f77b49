/// A STUN or TURN server and the credentials for it on the wire and on disk, as W3C RTCIceServer.
public struct ICEServerDocument: Codable, Hashable, Sendable {
  /// `stun:`, `turn:` or `turns:` URIs of the same server. RFC 7064, RFC 7065. A later version may name others.
  public var urls: [String]
  public var username: String?
  public var credential: String?

  public init(urls: [String], username: String? = nil, credential: String? = nil) {
    self.urls = urls
    self.username = username
    self.credential = credential
  }
}
