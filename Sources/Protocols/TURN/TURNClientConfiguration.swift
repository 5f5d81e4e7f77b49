public import STUN

/// What a client asks for, and every timer and limit with its default and reason.
public struct TURNClientConfiguration: Sendable {
  public var server: TURNServer
  public var credentials: TURNCredentials
  /// Asks for a relayed address of IPv6, REQUESTED-ADDRESS-FAMILY. RFC 8656 section 18.6.
  public var wantsIPv6: Bool
  /// Over UDP. RFC 8489 section 6.2.1 gives up after 39.5 s; a server that has not answered seven requests within 19.5 s
  /// is of no use, and while an allocation lasts the request is made again.
  public var retransmission = STUNRetransmission(
    initialTimeout: .milliseconds(500), maximumTimeout: .seconds(4), maximumRequests: 7, lastTimeoutFactor: 8)
  /// How long a response may take over TCP and TLS, where nothing is retransmitted. The same time.
  public var streamTimeout: Duration = .milliseconds(19_500)
  /// The last word is repeated for 2.5 s: a server that misses it keeps the allocation for some minutes, no more.
  public var closing = STUNRetransmission(initialTimeout: .milliseconds(500), maximumRequests: 3, lastTimeoutFactor: 2)
  /// The age at which a permission is refreshed. It lasts 300 s (RFC 8656 section 9): three rounds of requests fit.
  public var permissionRefresh: Duration = .seconds(240)
  public static let permissionLifetime: Duration = .seconds(300)
  /// The age at which a channel is refreshed. It lasts 600 s (RFC 8656 section 12), and binding it again refreshes the
  /// permission, too. So a little before that one's turn.
  public var channelRefresh: Duration = .seconds(230)
  public static let channelLifetime: Duration = .seconds(600)
  /// For how long a channel's number is kept for its peer after it has lapsed. RFC 8656 section 12.
  public static let channelRest: Duration = .seconds(300)
  /// A peer with whom nothing was exchanged for this long is refreshed no more: a candidate that came to nothing.
  public var peerIdleTime: Duration = .seconds(600)
  /// How long a peer that the server refuses is not asked for again.
  public var refusalPause: Duration = .seconds(60)
  /// What is sent to an idle server, over UDP, so that routers on the way keep the port. Many forget it after 30 s.
  public var keepaliveInterval: Duration = .seconds(20)
  /// Peers in one allocation: viewers times their candidates. The one idle longest makes room.
  public var maximumPeers = 128
  /// Datagrams to one peer that wait for its permission or channel: the first flight of DTLS.
  public var maximumWaiting = 16
  /// Send indications have 36 to 48 bytes more than what they carry. Longer payloads wait for their channel, so that no
  /// packet is over 1280 bytes with its headers, the least that every IPv6 path carries.
  public static let maximumIndicationPayload = 1184
  /// New nonces in a row for one request.
  public var maximumNonces = 3
  /// A server's lifetime below this is an error, as refreshing would never end; RFC 8656 section 7.2 has 600 s.
  public static let minimumLifetime: Duration = .seconds(20)
  /// RFC 8656 section 7.2 recommends this as the most that servers grant; longer ones are refreshed as if it were this.
  public static let maximumLifetime: Duration = .seconds(3600)

  public init(server: TURNServer, credentials: TURNCredentials, wantsIPv6: Bool = false) {
    self.server = server
    self.credentials = credentials
    self.wantsIPv6 = wantsIPv6
  }
}
