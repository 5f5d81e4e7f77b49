import Wire

/// Resetting streams, which is how data channels close. RFC 6525 section 5, RFC 8831 section 6.7.
struct StreamReset: Sendable {
  typealias Result = ReconfigurationParameter.Result
  typealias Request = ReconfigurationParameter.OutgoingReset

  /// Our streams to reset once their queues are empty.
  private(set) var wanted: Set<UInt16> = []
  /// Our request that awaits its response; RFC 6525 allows one at a time.
  private(set) var pending: Request?
  /// Streams of `pending` that are known to be reset before the response has arrived.
  private var known: Set<UInt16> = []
  var deadline: Instant?
  private var nextSequence: UInt32
  private var expectedSequence: UInt32 = 0
  private var lastAnswer: (sequence: UInt32, result: Result)?
  /// The peer's request, waiting for data up to its last TSN.
  private var deferred: Request?

  /// RFC 6525 section 4.1: request numbers begin at the initial TSN.
  init(initialTSN: UInt32) {
    nextSequence = initialTSN
  }

  mutating func start(peerInitialTSN: UInt32) {
    expectedSequence = peerInitialTSN
  }

  mutating func want(_ id: UInt16) {
    wanted.insert(id)
  }

  /// Builds a request for the wanted streams that are drained. `limit` bounds their number in one packet.
  mutating func makeRequest(lastTSN: UInt32, limit: Int, isDrained: (UInt16) -> Bool) -> Request? {
    guard pending == nil, !wanted.isEmpty else { return nil }
    let ids = wanted.filter(isDrained).sorted().prefix(limit)
    guard !ids.isEmpty else { return nil }
    wanted.subtract(ids)
    let request = Request(
      sequence: nextSequence, responseSequence: expectedSequence &- 1, lastTSN: lastTSN, streamIDs: Array(ids))
    nextSequence &+= 1
    pending = request
    return request
  }

  /// The peer reuses a stream, so it has performed our reset, and its response no longer matters for that stream. False
  /// if no reset of it was requested.
  mutating func isKnownPerformed(_ id: UInt16) -> Bool {
    guard let pending, pending.streamIDs.contains(id) else { return false }
    return known.insert(id).inserted
  }

  enum Response: Hashable, Sendable {
    case ignored
    /// The peer has not received everything yet; the request will be repeated.
    case inProgress
    /// Finished, with the requested streams; `performed` unless the peer refused.
    case finished([UInt16], performed: Bool)
  }

  mutating func handleResponse(sequence: UInt32, result: Result) -> Response {
    guard let request = pending, request.sequence == sequence else { return .ignored }
    if result == .inProgress { return .inProgress }
    pending = nil
    deadline = nil
    defer { known = [] }
    return .finished(
      request.streamIDs.filter { !known.contains($0) }, performed: result == .performed || result == .nothingToDo)
  }

  /// The result that is already decided. Section 5.2.1: a repeated request gets its result again, and any other that is
  /// out of sequence is refused. Nil if the request is the next one.
  private func settled(_ sequence: UInt32) -> Result? {
    if let lastAnswer, lastAnswer.sequence == sequence { return lastAnswer.result }
    guard sequence == expectedSequence else { return .badSequenceNumber }
    return deferred == nil ? nil : .anotherRequestInProgress
  }

  private mutating func settle(_ sequence: UInt32, _ result: Result) -> Result {
    expectedSequence = sequence &+ 1
    lastAnswer = (sequence, result)
    return result
  }

  /// The result to send, and whether the streams are to be reset now. Section 5.2.2.
  mutating func handle(_ request: Request, hasArrived: (UInt32) -> Bool) -> (Result, isDue: Bool) {
    if let result = settled(request.sequence) { return (result, false) }
    guard hasArrived(request.lastTSN) else {
      deferred = request
      return (settle(request.sequence, .inProgress), false)
    }
    return (settle(request.sequence, .performed), true)
  }

  /// The result for a request that is accepted or denied without further work.
  mutating func handle(sequence: UInt32, accepted: Bool) -> Result {
    settled(sequence) ?? settle(sequence, accepted ? .performed : .denied)
  }

  /// The deferred request, once its data has arrived; it is performed and answered unsolicited.
  mutating func takeDeferred(hasArrived: (UInt32) -> Bool) -> Request? {
    guard let request = deferred, hasArrived(request.lastTSN) else { return nil }
    deferred = nil
    lastAnswer = (request.sequence, .performed)
    return request
  }
}
