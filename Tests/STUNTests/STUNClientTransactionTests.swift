import STUN
import Testing
import Wire

@Suite struct STUNClientTransactionTests {
  let id = STUNTransactionID(bytes: Array(1...12))!

  /// Milliseconds after the first request.
  private func schedule(_ transaction: STUNClientTransaction) -> (retransmissions: [Int64], end: Int64) {
    var transaction = transaction
    var retransmissions: [Int64] = []
    while true {
      let now = transaction.deadline
      #expect(transaction.handleTimeout(now: now - .nanoseconds(1)) == nil)
      let milliseconds = now.nanoseconds / 1_000_000
      switch transaction.handleTimeout(now: now) {
      case .retransmit: retransmissions.append(milliseconds)
      case .timedOut: return (retransmissions, milliseconds)
      case nil:
        Issue.record("a due timeout did nothing")
        return (retransmissions, milliseconds)
      }
    }
  }

  /// The example in RFC 8489 section 6.2.1.
  @Test func doublesItsTimeoutAndGivesUpAfter39Seconds() {
    let (retransmissions, end) = schedule(STUNClientTransaction(id: id, request: [], now: .zero))
    #expect(retransmissions == [500, 1500, 3500, 7500, 15500, 31500])
    #expect(end == 39500)
  }

  @Test func doublesNoFurtherThanToItsLimit() {
    let limited = STUNRetransmission(
      initialTimeout: .milliseconds(200), maximumTimeout: .milliseconds(800), maximumRequests: 5)
    let (retransmissions, end) = schedule(
      STUNClientTransaction(id: id, request: [], retransmission: limited, now: .zero))
    #expect(retransmissions == [200, 600, 1400, 2200])
    #expect(end == 5400)
  }

  @Test func aSingleRequestWaitsOnce() {
    let once = STUNClientTransaction(id: id, request: [], retransmission: .once(timeout: .seconds(30)), now: .zero)
    #expect(schedule(once).retransmissions.isEmpty)
    #expect(schedule(once).end == 30000)
  }

  @Test func measuresTheRoundTripOfUnrepeatedRequestsOnly() {
    var transaction = STUNClientTransaction(id: id, request: [], now: .zero)
    let later = Instant.zero + .milliseconds(600)
    #expect(transaction.roundTripTime(now: later) == .milliseconds(600))
    #expect(transaction.handleTimeout(now: later) == .retransmit)
    #expect(transaction.roundTripTime(now: later) == nil)
  }

  @Test func stopsRepeatingButStillWaits() {
    var transaction = STUNClientTransaction(id: id, request: [], now: .zero)
    transaction.stopRetransmitting()
    #expect(schedule(transaction).retransmissions.isEmpty)
    #expect(schedule(transaction).end == 8000)
  }
}
