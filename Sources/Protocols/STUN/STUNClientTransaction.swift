public import Wire

/// The retransmission schedule of a request over UDP. RFC 8489 section 6.2.1.
public struct STUNRetransmission: Hashable, Sendable {
  /// The time to the first retransmission; doubles each time.
  public var initialTimeout: Duration
  /// The upper limit of the doubling; nil for none, as in RFC 8489.
  public var maximumTimeout: Duration?
  /// Rc: how many times the request is sent in total.
  public var maximumRequests: Int
  /// Rm: how long the last request waits for its response, in initial timeouts.
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

  /// For a request that is sent once and waits `timeout` for its response, like consent checks (RFC 7675 section 5.1).
  public static func once(timeout: Duration) -> STUNRetransmission {
    STUNRetransmission(initialTimeout: timeout, maximumRequests: 1, lastTimeoutFactor: 1)
  }
}

/// A request that waits for its response, retransmitted with doubling timeouts. RFC 8489 section 6.2.1.
///
/// The caller sends `request` when it creates the transaction, and again whenever `handleTimeout` says so. It ends with
/// a response or with `.timedOut`.
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
  /// How many times `request` has been sent.
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

  /// The event due at `now`; nil if it is too early.
  public mutating func handleTimeout(now: Instant) -> Event? {
    guard now >= deadline else { return nil }
    guard sentCount < retransmission.maximumRequests else { return .timedOut }
    sentCount += 1
    timeout = min(timeout * 2, retransmission.maximumTimeout ?? .seconds(3600))
    lastSentAt = now
    deadline = now + waitAfterSending
    return .retransmit
  }

  /// Counts an early retransmission, sent because the peer was just heard; the schedule continues.
  public mutating func retransmitEarly(now: Instant) {
    lastSentAt = now
    sentCount = min(sentCount + 1, retransmission.maximumRequests)
    deadline = now + waitAfterSending
  }

  /// Stops retransmitting; a response is still awaited. RFC 8445 section 8.1.2.
  public mutating func stopRetransmitting() {
    guard sentCount < retransmission.maximumRequests else { return }
    retransmission.maximumRequests = sentCount
    deadline = lastSentAt + waitAfterSending
  }

  /// The round trip to a response at `now`; nil if the request was sent more than once, because the response could be
  /// to any of them (Karn's rule, RFC 8489 section 6.2.1).
  public func roundTripTime(now: Instant) -> Duration? {
    sentCount == 1 ? now - firstSentAt : nil
  }
}
