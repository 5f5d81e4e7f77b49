import Wire

/// Turns the packets of one video stream into decodable frames, each handed out as soon as possible. Frames that cannot
/// be decoded are held back: the last good picture stays, and a key frame is requested when waiting is no longer
/// useful.
struct VideoReception: Sendable {
  private var assembly: VP8FrameAssembly
  private var dependencies = FrameDependencies()
  /// Complete frames that cannot be decoded yet, in sending order.
  private var waiting: [VP8Frame] = []
  private let maximumWaitingFrames: Int
  private var requester: KeyFrameRequester
  private let usesNACK: Bool
  /// How long a frame waits for one before it that it can do without; zero when a retransmission would come later.
  private var upperLayerPatience = Duration.zero
  private let longestUpperLayerWait: Duration
  /// Pictures are shown no sooner after their arrival, so that so much more waiting is not seen.
  private var leastDelay = Duration.zero
  private var requestTiming: (roundTripTime: Duration, interval: Duration)?
  /// When the first frame is handed out even if one before it is still missing.
  private(set) var holdDeadline: Instant?
  /// First packet of a key frame that is arriving.
  private var keyFrameStart: Int64?
  private var lastPacketAt = Instant(nanoseconds: .min)

  /// Nothing can be wrong before the first packet.
  private var hasBegun = false

  init(configuration: RTPReceiverConfiguration, usesNACK: Bool) {
    assembly = VP8FrameAssembly(
      maximumPackets: configuration.maximumBufferedPackets, maximumBytes: configuration.maximumBufferedBytes)
    maximumWaitingFrames = max(1, configuration.maximumWaitingFrames)
    requester = KeyFrameRequester(
      interval: configuration.keyFrameRequestInterval, maximumInterval: configuration.maximumKeyFrameRequestInterval)
    self.usesNACK = usesNACK
    longestUpperLayerWait = configuration.longestUpperLayerWait
  }

  struct Taken: Sendable {
    var frame: VP8Frame
    var payload: [UInt8]
  }

  /// Decodable frames, and updates for the stream's counters.
  struct Received: Sendable {
    var frames: [Taken] = []
    var completedFrames: UInt64 = 0
    var discardedPackets: UInt64 = 0
  }

  var waitingFrameCount: Int { waiting.count }
  var bufferedBytes: Int { assembly.byteCount }
  var droppedFrames: UInt64 { assembly.droppedFrames }

  /// Packets below are no longer needed.
  var floor: Int64? { assembly.floor }

  /// Handles a new packet, and returns the frames that it makes decodable.
  mutating func receive(
    sequence: Int64, timestamp: UInt32, marker: Bool, payload: ArraySlice<UInt8>, now: Instant
  ) -> Received {
    var result = Received()
    if hasBegun, now - lastPacketAt > Self.outageTime { requester.noteOutageEnd(now: now) }
    hasBegun = true
    lastPacketAt = now
    switch assembly.insert(sequence: sequence, timestamp: timestamp, marker: marker, payload: payload, now: now) {
    case .tooLate, .malformed:
      result.discardedPackets = 1
    case .stored:
      noteKeyFrame(sequence)
    case .completed(let frame):
      result.completedFrames = 1
      noteKeyFrame(sequence)
      enqueue(frame)
    }
    if assembly.hasOverflowed { dropOverflow() }
    handOut(into: &result, now: now)
    return result
  }

  private mutating func noteKeyFrame(_ sequence: Int64) {
    guard assembly.beginsKeyFrame(sequence) else { return }
    keyFrameStart = max(keyFrameStart ?? sequence, sequence)
  }

  private mutating func enqueue(_ frame: VP8Frame) {
    var position = waiting.count
    while position > 0, waiting[position - 1].first > frame.first { position -= 1 }
    waiting.insert(frame, at: position)
    guard waiting.count > maximumWaitingFrames else { return }
    release(below: waiting[0].last + 1)
    dependencies.awaitKeyFrame()
  }

  /// The buffer was too small for the frames being waited for.
  private mutating func dropOverflow() {
    assembly.hasOverflowed = false
    if let floor = assembly.floor { release(below: floor) }
    dependencies.awaitKeyFrame()
  }

  /// Hands out frames that have waited long enough for those before them.
  mutating func handOutWhatIsDue(now: Instant) -> Received? {
    guard let due = holdDeadline, due <= now else { return nil }
    var result = Received()
    handOut(into: &result, now: now)
    return result
  }

  /// Repeatedly hands out the first decodable frame. Frames before it are skipped for good: a decoder cannot go back.
  private mutating func handOut(into result: inout Received, now: Instant) {
    skipPadding()
    holdDeadline = nil
    while let position = nextDecodable() {
      let frame = waiting[position]
      if let due = waitsUntil(frame), due > now {
        holdDeadline = due
        return
      }
      result.frames.append(Taken(frame: frame, payload: assembly.payload(of: frame)))
      assembly.noteTaken(frame)
      dependencies.noteDecoded(frame)
      requester.noteProgress(isKeyFrame: frame.isKeyFrame, now: now)
      release(below: frame.last + 1)
      skipPadding()
    }
  }

  /// Until when this decodable frame waits for a retransmission of one before it; nil when there is nothing to wait for.
  private func waitsUntil(_ frame: VP8Frame) -> Instant? {
    guard upperLayerPatience > .zero, let skipped = dependencies.skipped(before: frame),
      assembly.lacksAny(of: skipped)
    else { return nil }
    // The first packet of this frame that arrived has shown that others are missing.
    return frame.firstArrival + upperLayerPatience
  }

  /// Several attempts. Where not even the first could be in time, a frame of an upper layer is not worth waiting for.
  mutating func setRequestTiming(roundTripTime: Duration, requestInterval: Duration) {
    requestTiming = (roundTripTime, requestInterval)
    updateUpperLayerPatience()
  }

  mutating func setLeastDelay(_ delay: Duration) {
    guard delay != leastDelay else { return }
    leastDelay = delay
    updateUpperLayerPatience()
  }

  private mutating func updateUpperLayerPatience() {
    guard let (roundTripTime, requestInterval) = requestTiming else { return }
    let longest = max(longestUpperLayerWait, leastDelay - Self.decodingAllowance)
    let first = roundTripTime + Self.retransmissionSlack
    let isHopeless = !usesNACK || first > longest
    upperLayerPatience =
      isHopeless ? .zero : min(first + requestInterval * Self.upperLayerRetries, longest)
  }

  private static let upperLayerRetries = 3
  /// Of the delay that a picture has anyway, what is left for the rest of the way.
  private static let decodingAllowance = Duration.milliseconds(30)
  /// From the arrival of a request to the retransmission's leaving.
  private static let retransmissionSlack = Duration.milliseconds(10)

  private mutating func nextDecodable() -> Int? {
    var position = 0
    while position < waiting.count {
      switch dependencies.verdict(on: waiting[position]) {
      case .decodable: return position
      case .waiting: position += 1
      case .undecodable: waiting.remove(at: position)
      }
    }
    return nil
  }

  private mutating func skipPadding() {
    guard let start = dependencies.nextSequence else { return }
    var next = start
    while assembly.isPadding(next) {
      dependencies.notePadding()
      next += 1
    }
    if next != start { release(below: next) }
  }

  private mutating func release(below sequence: Int64) {
    assembly.release(below: sequence)
    let passed = waiting.firstIndex { $0.first >= sequence } ?? waiting.count
    waiting.removeFirst(passed)
    if let start = keyFrameStart, start < sequence { keyFrameStart = nil }
  }

  /// - Parameter decoderFailed: it cannot continue, even if nothing seems to be missing: no frame is handed out until the
  ///   next key frame.
  mutating func requestKeyFrame(decoderFailed: Bool, now: Instant) {
    guard hasBegun else { return }
    if decoderFailed { dependencies.awaitKeyFrame() }
    requester.want(now: now, decoderFailed: decoderFailed)
  }

  /// Starts over: the sender restarted, on the same SSRC or another, or an outage ended.
  mutating func reset() {
    assembly.removeAll()
    dependencies.awaitKeyFrame()
    waiting = []
    keyFrameStart = nil
    holdDeadline = nil
    // The next packets show whether the stream starts with a key frame.
    requester.forgetWish()
  }

  // MARK: Being stuck

  /// How long to wait for a retransmission before also requesting a key frame: several attempts, but no longer than a
  /// tolerable freeze. Without NACK, only reordered packets are waited for.
  private func patience(_ nacks: NACKGenerator) -> Duration {
    guard usesNACK else { return Self.patienceWithoutNACK }
    return min(max(nacks.requestInterval * 6, Self.minimumPatience), Self.maximumPatience)
  }

  private static let patienceWithoutNACK = Duration.milliseconds(30)
  private static let minimumPatience = Duration.milliseconds(200)
  private static let maximumPatience = Duration.milliseconds(500)

  /// Whether a gap of `count` packets that ends now should not be repaired: a key frame is smaller and arrives sooner.
  /// The duration decides: a burst of loss is repaired within a round trip, while a key frame burdens all viewers of
  /// the same encoder.
  func isOutage(missing count: Int, nacks: NACKGenerator, now: Instant) -> Bool {
    count >= Self.outagePackets && now - lastPacketAt > max(Self.outageTime, patience(nacks))
  }

  /// Gaps smaller than a small key frame are always repaired.
  private static let outagePackets = 32
  /// Older video is no longer worth showing.
  private static let outageTime = Duration.milliseconds(450)

  /// Since when decoding has been stuck; nil while nothing is wrong.
  private func stuckSince(_ nacks: NACKGenerator) -> Instant? {
    guard hasBegun else { return nil }
    if let start = keyFrameStart {
      // While it is arriving, nothing else matters; it may take its time as long as none of it is missing.
      var since = min(lastPacketAt, nacks.oldestNoticedAt(from: start) ?? lastPacketAt)
      if let behind = waiting.first(where: { $0.first > start }) { since = min(since, behind.completedAt) }
      return since
    }
    if dependencies.awaitsKeyFrame { return Instant(nanoseconds: .min) }
    let missing = nacks.oldestNoticedAt()
    guard let first = waiting.first else { return missing }
    return min(first.completedAt, missing ?? first.completedAt)
  }

  /// Whether to request a key frame now.
  mutating func takeKeyFrameRequest(nacks: inout NACKGenerator, now: Instant) -> Bool {
    if nacks.hasGivenUp {
      nacks.hasGivenUp = false
      requester.want(now: now)
    }
    if let since = stuckSince(nacks), since + patience(nacks) <= now { requester.want(now: now) }
    return requester.takeDue(now: now, roundTripTime: nacks.cautiousRoundTripTime)
  }

  func nextDeadline(nacks: NACKGenerator) -> Instant? {
    if let deadline = requester.nextDeadline { return deadline }
    return stuckSince(nacks).map { $0 + patience(nacks) }
  }
}
