import RTP
import Wire

/// From the packets of one video stream to frames that can be decoded, each as soon as it can be. What cannot be
/// decoded is held back: the last good picture stands, and a key frame is asked for when waiting is of no use any more.
struct VideoReception: Sendable {
  private var assembly: VP8FrameAssembly
  private var dependencies = FrameDependencies()
  /// Whole frames that cannot be decoded yet, in sending order.
  private var waiting: [VP8Frame] = []
  private let maximumWaitingFrames: Int
  private var requester: KeyFrameRequester
  private let usesNACK: Bool
  /// The first packet of a key frame that is under way.
  private var keyFrameStart: Int64?
  private var lastPacketAt = Instant(nanoseconds: .min)

  /// Nothing wrong was noticed before there was a packet.
  private var hasBegun = false

  init(configuration: RTPReceiverConfiguration, usesNACK: Bool) {
    assembly = VP8FrameAssembly(
      maximumPackets: configuration.maximumBufferedPackets, maximumBytes: configuration.maximumBufferedBytes)
    maximumWaitingFrames = max(1, configuration.maximumWaitingFrames)
    requester = KeyFrameRequester(
      interval: configuration.keyFrameRequestInterval, maximumInterval: configuration.maximumKeyFrameRequestInterval)
    self.usesNACK = usesNACK
  }

  struct Taken: Sendable {
    var frame: VP8Frame
    var payload: [UInt8]
  }

  /// What the counters of the stream are told.
  struct Received: Sendable {
    var frames: [Taken] = []
    var completedFrames: UInt64 = 0
    var discardedPackets: UInt64 = 0
  }

  var waitingFrameCount: Int { waiting.count }
  var bufferedBytes: Int { assembly.byteCount }
  var droppedFrames: UInt64 { assembly.droppedFrames }

  /// What lies below is of no use any more.
  var floor: Int64? { assembly.floor }

  /// Takes a packet that is new, and hands out what can be decoded because of it.
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

  /// The buffer was too small for what is awaited.
  private mutating func dropOverflow() {
    assembly.hasOverflowed = false
    if let floor = assembly.floor { release(below: floor) }
    dependencies.awaitKeyFrame()
  }

  /// Hands out the first frame that can be decoded, again and again. Those before it are passed over for good: a
  /// decoder cannot go back.
  private mutating func handOut(into result: inout Received, now: Instant) {
    skipPadding()
    while let position = nextDecodable() {
      let frame = waiting[position]
      result.frames.append(Taken(frame: frame, payload: assembly.payload(of: frame)))
      assembly.noteTaken(frame)
      dependencies.noteDecoded(frame)
      requester.noteProgress(isKeyFrame: frame.isKeyFrame, now: now)
      release(below: frame.last + 1)
      skipPadding()
    }
  }

  private mutating func nextDecodable() -> Int? {
    var position = 0
    while position < waiting.count {
      switch dependencies.verdict(on: waiting[position]) {
      case .decodable: return position
      case .waiting: position += 1
      case .hopeless: waiting.remove(at: position)
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

  /// The decoder cannot go on, whatever it looks like from here.
  mutating func requestKeyFrame(now: Instant) {
    guard hasBegun else { return }
    dependencies.awaitKeyFrame()
    requester.want(now: now, decoderFailed: true)
  }

  /// The sender begins anew, on the same SSRC or another, or after an outage.
  mutating func reset() {
    assembly.removeAll()
    dependencies.awaitKeyFrame()
    waiting = []
    keyFrameStart = nil
    // What comes next tells whether it begins with a key frame.
    requester.forgetWish()
  }

  // MARK: Being stuck

  /// How long a retransmission is waited for before a key frame is asked for as well: several tries, but no longer than
  /// a stop that nobody minds. Without NACK only packets out of order are waited for.
  private func patience(_ nacks: NACKGenerator) -> Duration {
    guard usesNACK else { return Self.patienceWithoutNACK }
    return min(max(nacks.requestInterval * 6, Self.minimumPatience), Self.maximumPatience)
  }

  private static let patienceWithoutNACK = Duration.milliseconds(30)
  private static let minimumPatience = Duration.milliseconds(200)
  private static let maximumPatience = Duration.milliseconds(500)

  /// Whether a gap of `count` packets that ends now is better not filled: a key frame is smaller and sooner there. It is
  /// the time that counts. A burst of loss is made good within a round trip, while all viewers of the same encoder pay for
  /// a key frame.
  func isOutage(missing count: Int, nacks: NACKGenerator, now: Instant) -> Bool {
    count >= Self.outagePackets && now - lastPacketAt > max(Self.outageTime, patience(nacks))
  }

  /// Fewer than a small key frame has are always asked for.
  private static let outagePackets = 32
  /// What lies longer ago nobody wants to see any more.
  private static let outageTime = Duration.milliseconds(450)

  /// Since when decoding has stood still; nil while nothing is wrong.
  private func stuckSince(_ nacks: NACKGenerator) -> Instant? {
    guard hasBegun else { return nil }
    if let start = keyFrameStart {
      // While it comes nothing else matters; it may take its time as long as none of it is missing.
      var since = min(lastPacketAt, nacks.oldestNoticedAt(from: start) ?? lastPacketAt)
      if let behind = waiting.first(where: { $0.first > start }) { since = min(since, behind.completedAt) }
      return since
    }
    if dependencies.awaitsKeyFrame { return Instant(nanoseconds: .min) }
    let missing = nacks.oldestNoticedAt()
    guard let first = waiting.first else { return missing }
    return min(first.completedAt, missing ?? first.completedAt)
  }

  /// Whether to ask for a key frame now.
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
