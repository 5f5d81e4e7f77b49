public import Wire

/// How often and how long a request is sent again over UDP. RFC 8489 section 6.2.1.
public struct STUNRetransmission: Hashable, Sendable {
  /// The time to the first retransmission; doubles with each.
  public var initialTimeout: Duration
  /// Where the doubling stops; nil for never, as RFC 8489 has it.
  public var maximumTimeout: Duration?
  /// Rc: how often the request is sent at all.
  public var maximumRequests: Int
  /// Rm: how many times the initial timeout the last request waits for its response.
  public var lastTimeoutFactor: Int

  public init(
    initialTimeout: Duration = .milliseconds(500), maximumTimeout: Duration? = nil, maximumRequests: Int = 7,
    lastTimeoutFactor: Int = 16
  ) {
    self.initialTimeout = initialTimeout
    self.maximumTimeout = maximumTimeout
    self.maximumRequests = maximumRequests
    self.lastTimeoutFactor = lastTimeoutFactor
  }

  /// For a request that is sent once and waits `timeout` for its response, as consent checks are (RFC 7675 section 5.1).
  public static func once(timeout: Duration) -> STUNRetransmission {
    STUNRetransmission(initialTimeout: timeout, maximumRequests: 1, lastTimeoutFactor: 1)
  }
}

/// A request that waits for its response, retransmitted with doubling timeouts. RFC 8489 section 6.2.1.
///
/// The caller sends `request` once when it makes the transaction, and again whenever `handleTimeout` says so. It is
/// over with a response or with `.timedOut`.
public struct STUNClientTransaction: Sendable {
  public enum Event: Hashable, Sendable {
    /// Send `request` again.
    case retransmit
    case timedOut
  }

  public let id: STUNTransactionID
  /// The bytes on the wire, the same each time.
  public let request: [UInt8]
  public let firstSentAt: Instant
  public private(set) var lastSentAt: Instant
  /// How often `request` has been sent.
  public private(set) var sentCount = 1
  /// When `handleTimeout` is due.
  public private(set) var deadline: Instant
  private var retransmission: STUNRetransmission
  private var timeout: Duration

  /// For a request that is sent at `now`.
  public init(
    id: STUNTransactionID, request: [UInt8], retransmission: STUNRetransmission = STUNRetransmission(), now: Instant
  ) {
    self.id = id
    self.request = request
    self.retransmission = retransmission
    firstSentAt = now
    lastSentAt = now
    timeout = retransmission.initialTimeout
    deadline = now
    deadline = now + waitAfterSending
  }

  private var waitAfterSending: Duration {
    sentCount < retransmission.maximumRequests
      ? timeout : retransmission.initialTimeout * max(1, retransmission.lastTimeoutFactor)
  }

  /// What is due at `now`; nil when it is too early.
  public mutating func handleTimeout(now: Instant) -> Event? {
    guard now >= deadline else { return nil }
    guard sentCount < retransmission.maximumRequests else { return .timedOut }
    sentCount += 1
    timeout = min(timeout * 2, retransmission.maximumTimeout ?? .seconds(3600))
    lastSentAt = now
    deadline = now + waitAfterSending
    return .retransmit
  }

  /// Counts a retransmission that the caller makes early because the peer has just shown itself; the schedule goes on.
  public mutating func retransmitEarly(now: Instant) {
    lastSentAt = now
    sentCount = min(sentCount + 1, retransmission.maximumRequests)
    deadline = now + waitAfterSending
  }

  /// Lets the request wait for its response without being sent again. RFC 8445 section 8.1.2.
  public mutating func stopRetransmitting() {
    guard sentCount < retransmission.maximumRequests else { return }
    retransmission.maximumRequests = sentCount
    deadline = lastSentAt + waitAfterSending
  }

  /// The round trip to a response at `now`; nil once the request was sent twice, because the response could be to
  /// either (Karn's rule, RFC 8489 section 6.2.1).
  public func roundTripTime(now: Instant) -> Duration? {
    sentCount == 1 ? now - firstSentAt : nil
  }
}
