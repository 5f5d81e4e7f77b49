import Wire

/// The receiving half of an established association: what arrived, and when to acknowledge it. RFC 9260 section 6.2.
struct DataReceiver: Sendable {
  enum Acknowledging: Hashable, Sendable {
    case nothing
    /// One packet is unacknowledged; its SACK may wait until then.
    case delayed(until: Instant)
    case now
  }

  enum Verdict: Hashable, Sendable {
    case taken
    case duplicate
    /// No room, or too far ahead: dropped without being acknowledged.
    case dropped
    case tooLong
  }

  var tsns: ReceivedTSNs
  var reassembly: Reassembly
  private(set) var acknowledging = Acknowledging.nothing
  /// Bytes of messages delivered and not yet polled; they count against the window, so a slow reader slows the peer.
  var undelivered = 0
  private var announcedWindow: Int
  private var isFirstPacket = true
  private let window: Int

  init(initialTSN: UInt32, configuration: SCTPConfiguration) {
    tsns = ReceivedTSNs(initialTSN: initialTSN)
    reassembly = Reassembly(
      maximumMessageSize: configuration.maximumMessageSize, maximumStreams: configuration.maximumStreams)
    window = configuration.window
    announcedWindow = window
  }

  var freeWindow: Int { max(0, window - reassembly.bytesHeld - undelivered) }

  mutating func receive(_ chunk: DataChunk) -> Verdict {
    let tsn = tsns.unwrap(chunk.tsn)
    switch tsns.arrival(of: tsn) {
    case .duplicate:
      tsns.noteDuplicate(chunk.tsn)
      acknowledging = .now
      return .duplicate
    case .refused:
      acknowledging = .now
      return .dropped
    case .new: break
    }
    // Section 6.2: without room only the next expected TSN is accepted, or no message could be completed; even that
    // only up to twice the window.
    let cost = chunk.payload.count + Reassembly.overhead
    guard cost <= freeWindow || (tsn == tsns.cumulative + 1 && reassembly.bytesHeld + undelivered + cost <= 2 * window)
    else {
      acknowledging = .now
      return .dropped
    }
    guard reassembly.insert(chunk, tsn: tsn, cumulative: tsns.cumulative) else { return .tooLong }
    let hadGaps = !tsns.gaps.isEmpty
    tsns.insert(tsn)
    // Section 6.7: a gap, and its filling, is reported at once.
    if hadGaps || !tsns.gaps.isEmpty || chunk.flags.contains(.immediate) { acknowledging = .now }
    return .taken
  }

  /// Acknowledges a chunk that is dropped for good.
  mutating func skip(_ tsn: UInt32) {
    let unwrapped = tsns.unwrap(tsn)
    if tsns.arrival(of: unwrapped) == .new { tsns.insert(unwrapped) }
    acknowledging = .now
  }

  mutating func forward(_ chunk: ForwardTSNChunk) {
    let tsn = tsns.unwrap(chunk.newCumulativeTSN)
    // RFC 3758 section 3.6: an outdated FORWARD TSN is answered, because our SACK may have been lost.
    acknowledging = .now
    guard tsn > tsns.cumulative else { return }
    tsns.forward(to: tsn)
    reassembly.forward(to: tsn, skips: chunk.skips)
  }

  /// A packet with data was processed. Section 6.2: at least every second one is acknowledged; the very first at once,
  /// so that the peer's slow start begins.
  mutating func endOfPacket(now: Instant, delay: Duration) {
    switch acknowledging {
    case .nothing: acknowledging = isFirstPacket ? .now : .delayed(until: now + delay)
    case .delayed: acknowledging = .now
    case .now: break
    }
    isFirstPacket = false
  }

  mutating func handleTimeout(now: Instant) {
    if case .delayed(let until) = acknowledging, until <= now { acknowledging = .now }
  }

  var deadline: Instant? {
    if case .delayed(let until) = acknowledging { until } else { nil }
  }

  mutating func acknowledgeNow() {
    acknowledging = .now
  }

  /// Reports a window that has reopened, so that the peer need not probe for it. RFC 9260 section 6.2.
  mutating func delivered(_ bytes: Int) {
    undelivered = max(0, undelivered - bytes)
    if announcedWindow < window / 4, freeWindow >= window / 2 { acknowledging = .now }
  }

  mutating func makeSack(room: Int) -> SackChunk {
    acknowledging = .nothing
    announcedWindow = freeWindow
    let entries = max(0, (room - SackChunk.headerSize) / 4)
    let gaps = tsns.gapBlocks(limit: entries)
    return SackChunk(
      cumulativeTSN: tsns.cumulativeTSN, advertisedWindow: UInt32(truncatingIfNeeded: announcedWindow), gaps: gaps,
      duplicates: Array(tsns.takeDuplicates().prefix(entries - gaps.count)))
  }
}
