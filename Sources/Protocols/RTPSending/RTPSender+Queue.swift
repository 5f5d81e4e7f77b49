import Wire

// Drops video that has waited too long. Late frames are of no use to a parent; the newest one is.
extension RTPSender {
  /// Minimum time between scans of the whole queue.
  private static let stalenessInterval = Duration.milliseconds(50)
  /// A key frame that takes longer is not waited for.
  private static let longestKeyFrame = Duration.milliseconds(1500)
  /// Where the path carries all that is ever sent, what waits is a burst, and is soon gone.
  private static let burstPatience = Duration.milliseconds(400)

  mutating func giveUpStaleVideo(now: Instant) {
    guard let head = videoQueue.first else {
      if estimator.target >= BandwidthEstimator.narrowBitsPerSecond { keyFrameTook = .zero }
      return
    }
    guard now >= nextStalenessCheck else { return }
    // What waits behind a key frame waits as long as that took: another one would begin it all again. On a narrow path that
    // holds for all that follows it.
    var patience = configuration.maximumQueueTime + (head.isKeyFrame ? Self.longestKeyFrame : keyFrameTook)
    if estimator.isAmple { patience += Self.burstPatience }
    guard now - head.enqueuedAt > patience || queuedVideoBytes > configuration.maximumQueuedBytes else { return }
    nextStalenessCheck = now + Self.stalenessInterval
    for stream in streams.indices where streams[stream].configuration.kind == .video {
      giveUpVideo(of: stream, now: now)
    }
    queuedVideoBytes = videoQueue.elements.reduce(0) { $0 + $1.payload.count }
  }

  private mutating func giveUpVideo(of stream: Int, now: Instant) {
    let packets = videoQueue.elements.filter { $0.stream == stream }
    guard let head = packets.first else { return }
    // A key frame at the head is kept: dropping it would only request another one, which would fare no better.
    let keepsHead = head.isKeyFrame && queuedVideoBytes <= configuration.maximumQueuedBytes
    let newestKeyFrame = packets.last { $0.isFirstOfFrame && $0.isKeyFrame && $0.timestamp != head.timestamp }
    // Frames are in timestamp order, so the timestamp tells which ones to keep.
    let droppedFrames = packets.filter {
      guard $0.isLastOfFrame, !(keepsHead && $0.timestamp == head.timestamp) else { return false }
      guard let newestKeyFrame else { return true }
      return newestKeyFrame.timestamp.isAfter(serial: $0.timestamp)
    }
    guard !droppedFrames.isEmpty else { return }
    videoQueue.removeAll { packet in
      guard packet.stream == stream, !(keepsHead && packet.timestamp == head.timestamp) else { return false }
      guard let newestKeyFrame else { return true }
      return newestKeyFrame.timestamp.isAfter(serial: packet.timestamp)
    }
    streams[stream].statistics.framesDropped += UInt64(droppedFrames.count)
    guard newestKeyFrame == nil else { return }
    streams[stream].awaitsKeyFrame = true
    requestKeyFrame(stream: stream, now: now)
  }

  /// A smaller picture begins with a key frame, on a path that has become narrow: whatever is left of the larger one would
  /// go before it, and come too late.
  mutating func giveUpEarlierPictures(of stream: Int) {
    var dropped = 0
    videoQueue.removeAll { packet in
      guard packet.stream == stream else { return false }
      if packet.isLastOfFrame { dropped += 1 }
      queuedVideoBytes -= packet.payload.count
      return true
    }
    streams[stream].statistics.framesDropped += UInt64(dropped)
    // Nor is it sent again.
    streams[stream].cache.removeAll()
  }

  /// Requests a key frame from the owner, at most once per `keyFrameRequestInterval`. An earlier request is deferred.
  mutating func requestKeyFrame(stream: Int, now: Instant) {
    if streams[stream].awaitsKeyFrame {
      streams[stream].keyFrameRequestDue = now + Self.keyFramePatience
    } else if isAnswered(stream: stream, now: now) {
      return
    }
    if let last = streams[stream].keyFrameRequestedAt, now - last < configuration.keyFrameRequestInterval {
      streams[stream].keyFrameRequestDue = last + configuration.keyFrameRequestInterval
      return
    }
    // On a narrow path one may take longer than that, and another one behind it would repair nothing.
    if !streams[stream].awaitsKeyFrame, videoQueue.elements.contains(where: { $0.stream == stream && $0.isKeyFrame }) {
      return
    }
    streams[stream].keyFrameRequestedAt = now
    outputs.append(.keyFrameRequested(ssrc: streams[stream].configuration.ssrc))
  }

  /// Whether a request arriving now was sent before the last key frame could arrive.
  private func isAnswered(stream: Int, now: Instant) -> Bool {
    guard let sent = streams[stream].keyFrameSentAt else { return false }
    let roundTrip = streams[stream].cautiousRoundTripTime ?? Self.unmeasuredRoundTripTime
    return now - sent < roundTrip + (estimator.standingQueue ?? .zero) + lastPacketTime
  }

  /// How long the last packet of a frame takes on a narrow path, where nothing else was measured with one as large.
  private var lastPacketTime: Duration {
    let bits = BandwidthEstimator.fullPacketBits
    return .nanoseconds(Int64(saturating: bits * 1e9 / max(estimator.target, bits)))
  }

  /// The last packet of a key frame is sent.
  mutating func noteKeyFrameSent(stream: Int, enqueuedAt: Instant, now: Instant) {
    keyFrameTook = min(now - enqueuedAt, Self.longestKeyFrame)
    streams[stream].statistics.keyFramesSent += 1
    streams[stream].keyFrameSentAt = now
    // Losses before it no longer matter.
    if !streams[stream].awaitsKeyFrame { streams[stream].keyFrameRequestDue = nil }
  }

  /// While nothing can be decoded, a missing key frame is requested again after this time.
  private static let keyFramePatience = Duration.seconds(1)

  mutating func requestDueKeyFrames(now: Instant) {
    for stream in streams.indices {
      guard let due = streams[stream].keyFrameRequestDue, now >= due else { continue }
      streams[stream].keyFrameRequestDue = nil
      requestKeyFrame(stream: stream, now: now)
    }
  }
}
