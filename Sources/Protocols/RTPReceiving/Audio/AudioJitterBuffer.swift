import RTP
package import Wire

/// Buffers received Opus packets and decides when each is played.
///
/// From the first packet on, it produces elements without gaps, whatever arrives. The delay adapts to the network: it
/// grows by concealment when a packet is late and the delay too short, and shrinks by dropping packets once the delay
/// has been too long for a while.
///
/// There are two time scales: `position` is the media time of the next element, the state's deadline is when it is
/// played. Their difference, minus the transit of the fastest packets, is the delay.
package struct AudioJitterBuffer: Sendable {
  enum State: Sendable {
    /// Before the first packet, and after a second without any.
    case stopped
    case playing(next: Instant)
  }

  let configuration: AudioJitterBufferConfiguration
  var state = State.stopped
  var packets = AudioJitterBufferPackets()
  var timeline: AudioJitterBufferTimeline
  var target: AudioJitterBufferTarget
  package internal(set) var counters = AudioJitterCounters()

  /// The media time of the next element.
  var position: Int64 = 0
  /// The next packet to play; nil while the next packet to arrive decides the position.
  var nextSequence: Int64?
  /// Packets below have been played or given up.
  private var leastSequence = Int64.min
  /// Which of the last 256 sequence numbers were received, indexed by their low bits.
  private var seen = Array(repeating: Int64.min, count: AudioJitterBufferPackets.capacity)
  /// Consecutive packets that arrived too late.
  private var refusedInARow = 0

  /// Samples of the last packet; at first, of a typical one.
  var packetSamples: Int64
  /// Samples since a packet was last buffered.
  var emptySamples: Int64 = 0
  /// Samples since a packet was last played.
  var concealedSamples: Int64 = 0
  /// The last packet announced a pause (DTX).
  var isPausing = false
  var isAfterDiscontinuity = false
  /// Since when the delay has been longer than necessary.
  var tooLongSince: Instant?
  /// The delay is made longer without waiting for a packet that is lost or late.
  var growsAtOnce = false
  /// Drift of the sender's clock against ours.
  var drift = DriftRegulator()
  /// Duration of the last element in nanoseconds.
  var lastStep: Int64 = 0

  private var outputs = FIFO<ReceivedAudio>()
  private var outputCount = 0

  /// An owner that polls never lets more accumulate.
  private static let maximumOutputs = 512
  /// RFC 6716 section 3.2: 120 ms in 20 ms frames of 1275 bytes each, plus headers.
  private static let maximumPacketBytes = 7664
  /// After a second of packets that are all too late, our sequence numbers must be wrong.
  private static let maximumRefusedInARow = 50

  /// - Parameter clockRate: of the RTP timestamps; 48000 for Opus.
  package init(configuration: AudioJitterBufferConfiguration, clockRate: Int) {
    self.configuration = configuration
    timeline = AudioJitterBufferTimeline(clockRate: Int64(min(max(clockRate, 400), 1_000_000)))
    packetSamples = timeline.clockRate / 50
    target = AudioJitterBufferTarget(configuration: configuration, packetTime: 20_000_000)
  }

  /// Inserts a packet. Duplicates and packets that are not Opus are ignored.
  ///
  /// - Parameters:
  ///   - sequence: the unwrapped sequence number.
  ///   - isRecovered: received by retransmission or as a copy in another packet, so its delay says nothing.
  package mutating func insert(_ payload: [UInt8], sequence: Int64, timestamp: UInt32, isRecovered: Bool, now: Instant)
  {
    let mark = Int(truncatingIfNeeded: sequence) & (seen.count - 1)
    // A refused packet with the same index may have overwritten the entry of a buffered one.
    guard seen[mark] != sequence, !packets.contains(sequence) else {
      if !isRecovered { counters.duplicatePackets += 1 }
      return
    }
    guard payload.count <= Self.maximumPacketBytes, let info = try? OpusPacketInfo(parsing: payload) else {
      counters.packetsDiscarded += 1
      return
    }
    // Only a packet with a meaningful delay can start playout.
    if isRecovered, nextSequence == nil { return }
    let samples = max(timeline.shortest, samplesAtClockRate(info.samplesAt48kHz))
    let media = timeline.place(
      sequence: sequence, timestamp: timestamp, samples: samples, isRecovered: isRecovered, now: now)
    if let media, !isRecovered { noteArrival(of: media, now: now) }
    guard let media, sequence >= leastSequence, makeRoom(for: sequence, bytes: payload.count) else {
      refuse(isRecovered: isRecovered)
      if sequence > seen[mark] { seen[mark] = sequence }
      return
    }
    seen[mark] = sequence
    refusedInARow = 0
    align(to: sequence, media: media, now: now)
    packets.insert(
      BufferedAudioPacket(
        sequence: sequence, media: media, samples: samples, payload: payload, arrival: now, isRecovered: isRecovered,
        copiedSamples: samplesAtClockRate(info.copiedSamples(in: payload))))
  }

  private func samplesAtClockRate(_ samples: Int) -> Int64 {
    Int64(samples) * timeline.clockRate / Int64(OpusPacketInfo.clockRate)
  }

  private mutating func noteArrival(of media: Int64, now: Instant) {
    target.noteArrival(transit: now.nanoseconds &- timeline.nanoseconds(media), now: now)
  }

  private mutating func refuse(isRecovered: Bool) {
    counters.packetsDiscarded += 1
    guard !isRecovered else { return }
    refusedInARow += 1
    if refusedInARow >= Self.maximumRefusedInARow { reset() }
  }

  /// Drops the oldest packets to make room for a newer one. False if it is itself the oldest.
  private mutating func makeRoom(for sequence: Int64, bytes: Int) -> Bool {
    while let first = packets.first,
      !packets.fits(sequence) || packets.byteCount + bytes > configuration.maximumBufferedBytes
    {
      guard sequence > first.sequence else { return false }
      packets.removeFirst()
      counters.packetsDiscarded += 1
      isAfterDiscontinuity = true
      expect(first.sequence + 1, at: max(position, first.end))
    }
    // So many packets were lost that the old position is meaningless.
    if let nextSequence, packets.first == nil, sequence &- nextSequence >= Int64(AudioJitterBufferPackets.capacity) {
      forgetPosition()
    }
    return true
  }

  /// Decides when the first packet is played.
  private mutating func align(to sequence: Int64, media: Int64, now: Instant) {
    guard nextSequence == nil else { return }
    let due = now + .nanoseconds(target.value)
    switch state {
    case .stopped:
      state = .playing(next: due)
      expect(sequence, at: media)
    case .playing(let next):
      let wait = timeline.wholeFrames(timeline.samples(max(0, (due - next).nanoseconds)))
      expect(sequence, at: media &- wait)
    }
    isAfterDiscontinuity = true
    tooLongSince = nil
  }

  /// The next packet to play is `sequence`.
  mutating func expect(_ sequence: Int64, at media: Int64) {
    nextSequence = sequence
    leastSequence = sequence
    position = media
  }

  mutating func forgetPosition() {
    packets.removeAll()
    nextSequence = nil
    isAfterDiscontinuity = true
  }

  /// The sender has stopped: the next packet starts over.
  mutating func stop() {
    forgetPosition()
    state = .stopped
    emptySamples = 0
    target.delays.rebase()
  }

  /// The sender has restarted with other sequence numbers and timestamps. Playout continues with concealment.
  package mutating func reset() {
    forgetPosition()
    leastSequence = .min
    for index in seen.indices { seen[index] = .min }
    refusedInARow = 0
    timeline.restart()
    drift = DriftRegulator()
    target.delays.rebase()
  }

  /// Sets how long it takes to recover a lost packet once the loss is noticed; nil if that is not possible.
  package mutating func setRecoveryTime(_ time: Duration?) {
    if target.recoveryTime != time { target.recoveryTime = time }
  }

  /// Sets a delay below which the target does not fall, at most the configured maximum.
  ///
  /// - Parameter atOnce: the sound pauses until the delay is that long; otherwise it grows where packets are missing.
  package mutating func setLeastDelay(_ delay: Duration, atOnce: Bool) {
    let least = max(0, delay.nanoseconds)
    guard least != target.leastDelay else { return }
    growsAtOnce = atOnce && least > target.leastDelay
    target.leastDelay = least
  }

  /// When the next element is due; nil while nothing is played.
  package var nextDeadline: Instant? {
    guard case .playing(let next) = state else { return nil }
    return next
  }

  /// Produces the elements that are due, in order. If called late, it produces them from the packets buffered now.
  package mutating func handleTimeout(now: Instant) {
    while case .playing(let deadline) = state, deadline <= now { playOut(at: deadline) }
  }

  /// Produces elements that are due soon enough, as long as the packet for each is buffered.
  package mutating func playWhatIsReady(now: Instant) {
    while case .playing(let deadline) = state, deadline <= now + configuration.earliness, let nextSequence,
      packets.first?.sequence == nextSequence
    {
      playOut(at: deadline)
    }
  }

  package mutating func poll() -> ReceivedAudio? {
    guard let output = outputs.popFirst() else { return nil }
    outputCount -= 1
    return output
  }

  /// Buffered media time, including gaps.
  package var currentDelay: Duration { .nanoseconds(timeline.nanoseconds(max(0, waitingSamples))) }

  /// Buffer content: at most 256 packets, and bytes as configured.
  package var buffered: (packets: Int, bytes: Int) { (packets.count, packets.byteCount) }

  /// How long the fastest packets should wait.
  package var targetDelay: Duration { .nanoseconds(target.value) }

  var waitingSamples: Int64 {
    guard let last = packets.last else { return 0 }
    return last.end &- position
  }

  /// Hands out an element and advances the deadline past it; `position` is still that of its first sample.
  mutating func emit(_ content: ReceivedAudio.Content, samples: Int64, at deadline: Instant) {
    if outputCount < Self.maximumOutputs {
      outputCount += 1
      outputs.append(
        ReceivedAudio(
          content: content, rtpTimestamp: timeline.rtpTimestamp(at: position), samples: Int(samples),
          isAfterDiscontinuity: isAfterDiscontinuity))
    }
    isAfterDiscontinuity = false
    count(content, samples: UInt64(samples))
    lastStep = drift.duration(of: timeline.nanoseconds(samples))
    state = .playing(next: deadline + .nanoseconds(lastStep))
  }

  private mutating func count(_ content: ReceivedAudio.Content, samples: UInt64) {
    counters.totalSamplesReceived += samples
    switch content {
    case .packet, .forwardErrorCorrection:
      concealedSamples = 0
    case .concealment, .silence:
      let isSilent = content == .silence
      counters.concealedSamples += samples
      if isSilent { counters.silentConcealedSamples += samples }
      if !isSilent, concealedSamples == 0 { counters.concealmentEvents += 1 }
      concealedSamples += Int64(samples)
    }
  }
}
