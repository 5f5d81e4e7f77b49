internal import Wire

/// The handshake's timers.
public struct DTLSTiming: Sendable, Hashable {
  /// Until a flight is sent again for the first time; doubles with each repetition. RFC 6347 section 4.2.4.1 says one
  /// second, made for the open Internet of 2012; libwebrtc begins with 50 ms, for a handshake stands between a tap and
  /// a picture.
  public var firstRetransmission: Duration
  /// Where doubling ends. OpenSSL gives up by itself at the 13th repetition; with 5 s that is after `giveUp`.
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

  /// What follows a wait of `previous`.
  func retransmission(after previous: Duration?) -> Duration {
    guard let previous else { return firstRetransmission }
    return min(previous * 2, longestRetransmission)
  }
}
