internal import STUN
internal import SecureTransport
internal import Wire

/// Asks one STUN server how it sees our socket: a Binding request, sent again until it is answered. RFC 8489 section 6.2.1,
/// RFC 8445 section 5.1.1.2.
struct ReflexiveQuery {
  let server: TransportAddress
  private var transaction: STUNClientTransaction

  /// 6 s in all: a server that has not answered by then does not.
  private static let retransmission = STUNRetransmission(
    initialTimeout: .milliseconds(250), maximumTimeout: .milliseconds(1000), maximumRequests: 7, lastTimeoutFactor: 4)

  /// Send `request` at once.
  init(to server: TransportAddress, now: Instant) {
    self.server = server
    var random = SystemRandomNumberGenerator()
    let id = STUNTransactionID.random(using: &random)
    let message = STUNMessage(.request, transactionID: id)
    transaction = STUNClientTransaction(
      id: id, request: message.encode(fingerprint: false, hashes: CryptoHashes()), retransmission: Self.retransmission,
      now: now)
  }

  var request: [UInt8] { transaction.request }
  var deadline: Instant { transaction.deadline }

  enum Outcome {
    case again
    case unanswered
  }

  mutating func handleTimeout(now: Instant) -> Outcome? {
    switch transaction.handleTimeout(now: now) {
    case .retransmit: .again
    case .timedOut: .unanswered
    case nil: nil
    }
  }

  /// Our address as the server sees it; nil if this is not its answer.
  func answer(_ message: STUNMessage, from source: TransportAddress) -> TransportAddress? {
    guard source == server, message.transactionID == transaction.id, message.messageClass == .successResponse else {
      return nil
    }
    return message.mappedAddress
  }
}
