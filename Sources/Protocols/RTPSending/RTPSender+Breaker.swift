public import Wire

// When sending stops by itself, RFC 8083.
extension RTPSender {
  /// Whether ICE has the path to the peer. While it has not, missing reports say nothing about the peer.
  public mutating func setPathAlive(_ isAlive: Bool, now: Instant) {
    guard isAlive != isPathAlive else { return }
    isPathAlive = isAlive
    beginBreakersAnew(now: now)
  }

  /// The peer is reached another way: over a relay or no longer, over another network. What is known of the old path is
  /// forgotten.
  public mutating func beginNewPath(now: Instant) {
    estimator.beginNewPath(now: now)
    recentLoss = RecentLoss()
    playoutDelayForLoss = nil
    feedbackPace = FeedbackPace()
    missingFeedbackDue = nil
    narrowAt = nil
    for index in streams.indices { streams[index].forgetRoundTrip() }
    beginBreakersAnew(now: now)
    announceTarget()
  }

  /// Reports that come again after a time without any are of a peer that is back.
  mutating func noteReports(now: Instant) {
    let wasSilent = reportsHeardAt.map { now - $0 >= CircuitBreaker.patience } ?? true
    reportsHeardAt = now
    if wasSilent { beginBreakersAnew(now: now) }
  }

  private mutating func beginBreakersAnew(now: Instant) {
    for index in streams.indices {
      let wasOpen = streams[index].breaker.isOpen
      streams[index].breaker.beginAnew()
      if wasOpen { breakerChanged(of: index, now: now) }
    }
  }

  /// Whether the stream is sent now.
  mutating func isFlowing(stream index: Int, now: Instant) -> Bool {
    guard streams[index].breaker.isOpen else { return true }
    guard streams[index].breaker.admits(now: now) else { return false }
    breakerChanged(of: index, now: now)
    return true
  }

  mutating func noteMediaSent(stream index: Int, now: Instant) {
    guard isPathAlive, !streams[index].breaker.isOpen else { return }
    streams[index].breaker.noteSent(now: now)
    if streams[index].breaker.isOpen { breakerChanged(of: index, now: now) }
  }

  mutating func noteMediaArrived(stream index: Int, now: Instant) {
    let wasOpen = streams[index].breaker.isOpen
    streams[index].breaker.noteArrived()
    if wasOpen { breakerChanged(of: index, now: now) }
  }

  private mutating func breakerChanged(of index: Int, now: Instant) {
    let isOpen = streams[index].breaker.isOpen
    outputs.append(.paused(ssrc: streams[index].configuration.ssrc, isPaused: isOpen))
    guard streams[index].configuration.kind == .video else { return }
    streams[index].awaitsKeyFrame = true
    streams[index].keyFrameRequestDue = nil
    if !isOpen { requestKeyFrame(stream: index, now: now) }
  }

  /// Of the stream with the largest packets, since it began: what is small because little may be sent does not lower the
  /// bound any more.
  private var meanPacketBytes: Double {
    streams.reduce(0) { most, stream in
      let statistics = stream.statistics
      return max(
        most, Double(statistics.bytesSent + statistics.headerBytesSent) / Double(max(1, statistics.packetsSent)))
    }
  }

  /// Bounds the target by what TCP would reach.
  mutating func updateCongestionLimit(now: Instant) {
    guard let time = leastRoundTripTime else { return }
    estimator.congestionLimit = CircuitBreaker.congestionLimit(
      fractionLost: recentLoss.longFraction(now: now), roundTripTime: time, packetBytes: meanPacketBytes)
  }
}
