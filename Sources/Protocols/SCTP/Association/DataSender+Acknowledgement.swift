import Wire

extension DataSender {
  /// The result of a SACK.
  struct Acknowledgement: Sendable {
    var movedOn = false
    var roundTrip: Duration?
  }

  /// Processes a SACK; nil if it is outdated or acknowledges what was never sent. RFC 9260 section 6.2.1.
  mutating func handle(_ sack: SackChunk, now: Instant) -> Acknowledgement? {
    let advance = Int(sack.cumulativeTSN &- cumulativeAcked)
    guard sack.cumulativeTSN.isAtOrAfter(serial: cumulativeAcked), advance <= outstanding.count else { return nil }
    let wasFull = flightBytes + maximumPayload > congestion.window
    var result = Acknowledgement(movedOn: advance > 0)
    var acknowledgedBytes = 0
    for _ in 0..<advance {
      guard let chunk = outstanding.popFirst() else { break }
      switch chunk.status {
      case .inFlight:
        leavesFlight(chunk)
        acknowledgedBytes += chunk.data.size
        measure(chunk, now: now, into: &result)
      case .marked:
        markedCount -= 1
        acknowledgedBytes += chunk.data.size
      case .acknowledged, .abandoned: break
      }
      outstandingPayload -= chunk.data.payload.count
    }
    cumulativeAcked = sack.cumulativeTSN
    markedHint = max(0, markedHint - advance)
    gapExtent = max(0, gapExtent - advance)
    let highestNew = takeGaps(sack.gaps, acknowledgedBytes: &acknowledgedBytes, now: now, into: &result)
    advertisedWindow = Int(sack.advertisedWindow)

    if let exit = fastRecoveryExit, cumulativeAcked.isAtOrAfter(serial: exit) { fastRecoveryExit = nil }
    // RFC 9260 section 7.2.1: the window grows only outside fast recovery, and only when the cumulative TSN advances.
    if advance > 0, fastRecoveryExit == nil {
      congestion.acknowledged(
        bytes: acknowledgedBytes, wasFull: wasFull, isAllAcknowledged: outstanding.isEmpty)
    }
    countMisses(highestNew: highestNew, movedOn: advance > 0, now: now)

    // RFC 3758 section 3.5 rules C1 to C3: the peer is told again what it has not yet skipped.
    advancePoint()
    mustSendForwardTSN = advancedPoint.isAfter(serial: cumulativeAcked)
    return result
  }

  /// Marks what gap blocks acknowledge and reverts what they no longer do (reneging, RFC 9260 section 6.2.1). Returns
  /// the highest index that is newly acknowledged.
  private mutating func takeGaps(
    _ gaps: [SackChunk.GapBlock], acknowledgedBytes: inout Int, now: Instant, into result: inout Acknowledgement
  ) -> Int? {
    var highestNew: Int?
    var next = 0
    for gap in gaps {
      let start = Int(gap.start) - 1
      let end = Int(gap.end) - 1
      // Blocks ascend; one that breaks that or reaches beyond what was sent is ignored.
      guard start >= next, end >= start, end < outstanding.count else { continue }
      for index in next..<start { takeBack(index) }
      for index in start...end {
        var chunk = outstanding[index]
        switch chunk.status {
        case .inFlight:
          leavesFlight(chunk)
          measure(chunk, now: now, into: &result)
        case .marked: markedCount -= 1
        case .acknowledged, .abandoned: continue
        }
        acknowledgedBytes += chunk.data.size
        chunk.status = .acknowledged
        outstanding[index] = chunk
        highestNew = index
      }
      next = end + 1
    }
    if next < gapExtent { for index in next..<gapExtent { takeBack(index) } }
    gapExtent = next
    return highestNew
  }

  private mutating func takeBack(_ index: Int) {
    guard index < gapExtent, outstanding[index].status == .acknowledged else { return }
    outstanding[index].status = .inFlight
    outstanding[index].misses = 0
    entersFlight(outstanding[index])
  }

  private mutating func measure(_ chunk: OutstandingChunk, now: Instant, into result: inout Acknowledgement) {
    guard roundTripProbe == chunk.data.tsn else { return }
    roundTripProbe = nil
    // Karn's rule: RFC 9260 section 6.3.1 rule C5.
    if chunk.transmissions == 1 { result.roundTrip = now - chunk.sentAt }
  }

  /// The "highest TSN newly acknowledged" rule, and fast retransmit at the third miss. RFC 9260 section 7.2.4.
  ///
  /// Beyond the RFC a chunk can be retransmitted fast more than once: a miss counts only when something was
  /// acknowledged that went out after the chunk's last transmission. That keeps heavy loss from waiting for T3-rtx.
  private mutating func countMisses(highestNew: Int?, movedOn: Bool, now: Instant) {
    let limit = fastRecoveryExit != nil && movedOn ? max(gapExtent - 1, highestNew ?? 0) : highestNew ?? 0
    guard limit > 0, limit < outstanding.count else { return }
    let reference = cumulativeAcked &+ UInt32(truncatingIfNeeded: limit + 1)
    for index in 0..<limit {
      guard outstanding[index].status == .inFlight,
        reference.isAtOrAfter(serial: outstanding[index].missesCountFrom)
      else { continue }
      outstanding[index].misses += 1
      guard outstanding[index].misses >= 3 else { continue }
      lost(at: index, now: now)
      if fastRecoveryExit == nil {
        congestion.lossDetected()
        fastRecoveryExit = nextTSN &- 1
        mayExceedWindow = true
      }
    }
  }

  /// T3-rtx expired: everything in flight counts as lost. RFC 9260 section 6.3.3.
  mutating func timedOut(now: Instant) {
    if flightBytes > 0 { congestion.timedOut() }
    fastRecoveryExit = nil
    roundTripProbe = nil
    for index in 0..<outstanding.count where outstanding[index].status == .inFlight {
      lost(at: index, now: now)
    }
    if advancedPoint.isAfter(serial: cumulativeAcked) { mustSendForwardTSN = true }
  }

  private mutating func lost(at index: Int, now: Instant) {
    guard outstanding[index].status == .inFlight else { return }
    if peerSupportsForwardTSN, outstanding[index].isExhausted(now: now) {
      abandon(at: index)
      return
    }
    leavesFlight(outstanding[index])
    outstanding[index].status = .marked
    outstanding[index].misses = 0
    markedCount += 1
    markedHint = min(markedHint, index)
  }
}
