public import Wire

// When sending stops by itself, RFC 8083.
extension RTPSender {
  /// Whether ICE has the path to the peer. While it has not, missing reports say nothing about the peer.
  public mutating func setPathAlive(_ isAlive: Bool, now: Instant) {
    guard isAlive != isPathAlive else { return }
    isPathAlive = isAlive
    beginBreakersAnew(now: now)
  }

  /// Reports that come again after a time without any are of a peer that is back.
  mutating func noteReports(now: Instant) {
    let wasSilent = reportsHeardAt.map { now - $0 >= CircuitBreaker.patience } ?? true
    reportsHeardAt = now
    if wasSilent { beginBreakersAnew(now: now) }
  }

  private mutating func beginBreakersAnew(now: Instant) {
    for index in streams.indices { changeBreaker(of: index, now: now) { $0.beginAnew() } }
  }

  /// Whether the stream is sent now.
  mutating func isFlowing(stream index: Int, now: Instant) -> Bool {
    guard streams[index].breaker.isOpen else { return true }
    var isAdmitted = false
    changeBreaker(of: index, now: now) { isAdmitted = $0.admits(now: now) }
    return isAdmitted
  }

  mutating func noteMediaSent(stream index: Int, now: Instant) {
    guard isPathAlive else { return }
    changeBreaker(of: index, now: now) { $0.noteSent(now: now) }
  }

  mutating func noteMediaArrived(stream index: Int, now: Instant) {
    changeBreaker(of: index, now: now) { $0.noteArrived() }
  }

  private mutating func changeBreaker(of index: Int, now: Instant, _ change: (inout CircuitBreaker) -> Void) {
    let before = streams[index].breaker.isOpen
    change(&streams[index].breaker)
    let isOpen = streams[index].breaker.isOpen
    guard before != isOpen else { return }
    let isVideo = streams[index].configuration.kind == .video
    outputs.append(.paused(ssrc: streams[index].configuration.ssrc, isPaused: isOpen))
    if isVideo {
      streams[index].awaitsKeyFrame = true
      streams[index].keyFrameRequestDue = nil
      if !isOpen { requestKeyFrame(stream: index, now: now) }
    }
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
    guard let time = streams.compactMap(\.roundTripTime).min() else { return }
    estimator.congestionLimit = CircuitBreaker.congestionLimit(
      fractionLost: recentLoss.longFraction(now: now), roundTripTime: time, packetBytes: meanPacketBytes)
  }
}
