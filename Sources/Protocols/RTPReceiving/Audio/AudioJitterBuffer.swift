import RTP
package import Wire

/// Holds received Opus packets until it is their turn, and says when that is.
///
/// From the first packet on it hands out one element for each stretch of time, whatever comes. How long packets wait
/// follows what the network does: longer by sound that is made up when a packet is late and the delay is too short,
/// shorter by packets that are left out once the delay has been too long for a while.
///
/// Time is told in two ways: `position` is the media time of what is played next, the state's deadline the moment when.
/// Their difference, less that of the fastest packets' media time and arrival, is the delay.
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
  /// What is played next; nil while the next packet, whichever it is, decides where we are.
  var nextSequence: Int64?
  /// What is below has had its turn, or was given up.
  private var leastSequence = Int64.min
  /// Of the last 256 sequence numbers, those that were here; by the sequence number's lower bits.
  private var seen = Array(repeating: Int64.min, count: AudioJitterBufferPackets.capacity)
  /// Packets in a row that came too late.
  private var refusedInARow = 0

  /// Samples of the last packet, or of a usual one.
  var packetSamples: Int64
  /// Samples since a packet was waiting.
  var emptySamples: Int64 = 0
  /// Samples since a packet was played.
  var concealedSamples: Int64 = 0
  /// The last packet said that a pause follows.
  var isPausing = false
  var isAfterDiscontinuity = false
  /// Since when the delay has been longer than it need be.
  var tooLongSince: Instant?
  /// The sender's clock against ours.
  var drift = DriftRegulator()
  /// Nanoseconds of the last element.
  var lastStep: Int64 = 0

  private var outputs = FIFO<ReceivedAudio>()
  private var outputCount = 0

  /// Nobody who is interested lets more pile up.
  private static let maximumOutputs = 512
  /// RFC 6716 section 3.2: 120 ms of 20 ms frames with 1275 bytes each, and what counts them.
  private static let maximumPacketBytes = 7664
  /// A second of packets that are all too late: the sequence numbers are not those that we think.
  private static let maximumRefusedInARow = 50

  /// - Parameter clockRate: of the RTP timestamps; 48000 for Opus.
  package init(configuration: AudioJitterBufferConfiguration, clockRate: Int) {
    self.configuration = configuration
    timeline = AudioJitterBufferTimeline(clockRate: Int64(min(max(clockRate, 400), 1_000_000)))
    packetSamples = timeline.clockRate / 50
    target = AudioJitterBufferTarget(configuration: configuration, packetTime: 20_000_000)
  }

  /// Takes a packet. One that was here before changes nothing, nor does one that is no Opus packet.
  ///
  /// - Parameters:
  ///   - sequence: the sequence number without its wrap.
  ///   - isRecovered: it came by retransmission or as a copy in another packet, so its delay tells nothing.
  package mutating func insert(_ payload: [UInt8], sequence: Int64, timestamp: UInt32, isRecovered: Bool, now: Instant)
  {
    let mark = Int(truncatingIfNeeded: sequence) & (seen.count - 1)
    // A refused packet of the same mark may have taken the place of one that waits.
    guard seen[mark] != sequence, !packets.contains(sequence) else {
      if !isRecovered { counters.duplicatePackets += 1 }
      return
    }
    guard payload.count <= Self.maximumPacketBytes, let info = try? OpusPacketInfo(parsing: payload) else {
      counters.packetsDiscarded += 1
      return
    }
    // A beginning is timed by a packet whose delay tells something.
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

  /// Gives up the oldest packets for a newer one. False if it is the oldest itself.
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
    // So many got lost that what is to come has nothing to do with what was.
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

  /// The sender has stopped: whatever comes begins anew.
  mutating func stop() {
    forgetPosition()
    state = .stopped
    emptySamples = 0
    target.delays.rebase()
  }

  /// The sender has restarted, with other sequence numbers and timestamps. Playing goes on with what can be made up.
  package mutating func reset() {
    forgetPosition()
    leastSequence = .min
    for index in seen.indices { seen[index] = .min }
    refusedInARow = 0
    timeline.restart()
    drift = DriftRegulator()
    target.delays.rebase()
  }

  /// How long a retransmission takes from the request on; nil if none can be had.
  package mutating func setRecoveryTime(_ time: Duration?) {
    if target.recoveryTime != time { target.recoveryTime = time }
  }

  /// When the next element is due; nil while nothing is played.
  package var nextDeadline: Instant? {
    guard case .playing(let next) = state else { return nil }
    return next
  }

  /// Makes the elements that are due, in order. If it is called late, the elements are those that would have been made
  /// with the packets that are here now.
  package mutating func handleTimeout(now: Instant) {
    while case .playing(let deadline) = state, deadline <= now { playOut(at: deadline) }
  }

  /// Makes elements that are due soon enough, as long as the packet for each is here.
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

  /// Media time that waits, holes included.
  package var currentDelay: Duration { .nanoseconds(timeline.nanoseconds(max(0, waitingSamples))) }

  /// What is held: at most 256 packets, and bytes as configured.
  package var buffered: (packets: Int, bytes: Int) { (packets.count, packets.byteCount) }

  /// How long the fastest packets shall wait.
  package var targetDelay: Duration { .nanoseconds(target.value) }

  /// When the sound of an RTP timestamp is or was played, going by where we are now; nil while nothing is played.
  package func playoutTime(of timestamp: UInt32) -> Instant? {
    guard case .playing(let next) = state, nextSequence != nil else { return nil }
    let distance = Int32(truncatingIfNeeded: timestamp &- timeline.rtpTimestamp(at: position))
    return next + .nanoseconds(timeline.nanoseconds(Int64(distance)))
  }

  var waitingSamples: Int64 {
    guard let last = packets.last else { return 0 }
    return last.end &- position
  }

  /// Hands out an element and moves the deadline behind it; `position` is still that of its first sample.
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
