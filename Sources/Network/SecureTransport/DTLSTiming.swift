/// The handshake's timers.
public struct DTLSTiming: Sendable, Hashable {
  /// Time until a flight is first retransmitted; doubles each time. RFC 6347 section 4.2.4.1 recommends one second, for
  /// the open Internet of 2012; libwebrtc starts with 50 ms, because the user is waiting for a picture during the
  /// handshake.
  public var firstRetransmission: Duration
  /// The limit for doubling. OpenSSL itself gives up at the 13th retransmission; with 5 s that is after `giveUp`.
  public var longestRetransmission: Duration
  /// How long a handshake may take: from `start` as the client, from the first datagram as the server.
  public var giveUp: Duration

  public init(
    firstRetransmission: Duration = .milliseconds(50), longestRetransmission: Duration = .seconds(5),
    giveUp: Duration = .seconds(30)
  ) {
    self.firstRetransmission = firstRetransmission
    self.longestRetransmission = longestRetransmission
    self.giveUp = giveUp
  }

  /// The wait that follows `previous`.
  func retransmission(after previous: Duration?) -> Duration {
    guard let previous else { return firstRetransmission }
    return min(previous * 2, longestRetransmission)
  }
}
