import Wire

// Decides what is played next.
extension AudioJitterBuffer {
  /// Hands out the element that is due at `deadline`.
  mutating func playOut(at deadline: Instant) {
    settleLatePackets(at: deadline)
    shortenDelay(at: deadline)
    guard !pausesToGrow(at: deadline) else { return }
    guard let first = packets.first, let nextSequence else { return playNothing(at: deadline) }
    drift.note(excess: delay(at: deadline) &- target.value, elapsed: lastStep)
    let gap = first.media &- position
    if gap < timeline.shortest { return play(at: deadline) }
    // Time covered by neither received nor lost packets is a pause of the sender.
    let missing = min(max(0, first.sequence &- nextSequence), Int64(AudioJitterBufferPackets.capacity))
    let lost = min(gap, missing * packetSamples)
    if gap - lost >= timeline.shortest {
      playPause(gap - lost, at: deadline)
    } else {
      playMissing(missing, gap: gap, before: first, at: deadline)
    }
    emptySamples = 0
  }

  // MARK: What to play

  private mutating func play(at deadline: Instant) {
    guard let packet = packets.removeFirst() else { return }
    noteMissing(before: packet.sequence)
    target.notePlayed(isLoss: packet.isRecovered, bringsRedundancy: packet.copiedSamples > 0 || packet.isRecovered)
    packetSamples = packet.samples
    target.packetTime = timeline.nanoseconds(packet.samples)
    emptySamples = 0
    // An Opus packet that is only a header announces a pause (DTX). RFC 6716 section 2.1.9.
    isPausing = packet.payload.count <= 2
    position = packet.media
    noteWait(of: packet, at: deadline)
    emit(.packet(packet.payload), samples: packet.samples, at: deadline)
    expect(packet.sequence &+ 1, at: packet.end)
  }

  private mutating func noteWait(of packet: BufferedAudioPacket, at deadline: Instant) {
    let samples = Double(packet.samples)
    counters.jitterBufferDelay += max(0, (deadline - packet.arrival).inSeconds) * samples
    counters.jitterBufferTargetDelay += Double(target.value) / 1e9 * samples
    counters.jitterBufferMinimumDelay += Double(target.unbounded) / 1e9 * samples
    counters.jitterBufferEmittedCount += UInt64(packet.samples)
  }

  /// Records the lost packets before `sequence`, whether or not their time was filled.
  private mutating func noteMissing(before sequence: Int64) {
    guard let nextSequence else { return }
    for _ in 0..<min(max(0, sequence &- nextSequence), 16) {
      target.notePlayed(isLoss: true, bringsRedundancy: false)
    }
  }

  /// No packet is buffered: the next one may be late, lost or not sent, which only its arrival will show.
  private mutating func playNothing(at deadline: Instant) {
    let samples = stepSamples
    emit(fillerContent, samples: samples, at: deadline)
    position &+= samples
    emptySamples += samples
    if timeline.nanoseconds(emptySamples) >= configuration.stopAfter.nanoseconds { stop() }
  }

  private mutating func playPause(_ pause: Int64, at deadline: Instant) {
    let samples = min(stepSamples, timeline.wholeFrames(pause))
    emit(.silence, samples: samples, at: deadline)
    if isTooShort(at: deadline) {
      // A slightly longer pause is inaudible.
      counters.insertedSamplesForDeceleration += UInt64(samples)
    } else {
      position &+= samples
    }
  }

  /// Lost packets fill the `gap` before `first`; there may be more of them whose time has passed.
  private mutating func playMissing(
    _ all: Int64, gap: Int64, before first: BufferedAudioPacket, at deadline: Instant
  ) {
    let missing = min(all, (gap + packetSamples - 1) / packetSamples)
    // At most 120 ms, the longest Opus packet.
    let samples = max(timeline.shortest, min(timeline.wholeFrames(gap / missing), timeline.shortest * 48))
    // The decoder cannot use part of the copy.
    if missing == 1, first.copiedSamples > 0, samples >= first.copiedSamples {
      emit(.forwardErrorCorrection(next: first.payload), samples: samples, at: deadline)
      counters.fecSamplesUsed += UInt64(first.copiedSamples)
      counters.concealedSamples += UInt64(samples - first.copiedSamples)
    } else if isTooShort(at: deadline) {
      // The delay has to grow; meanwhile the packet may still arrive.
      emit(fillerContent, samples: stepSamples, at: deadline)
      counters.insertedSamplesForDeceleration += UInt64(stepSamples)
      isAfterDiscontinuity = true
      return
    } else {
      emit(fillerContent, samples: samples, at: deadline)
    }
    noteMissing(before: first.sequence &- missing &+ 1)
    expect(first.sequence &- missing &+ 1, at: position &+ samples)
  }

  private var fillerContent: ReceivedAudio.Content {
    let isLong = timeline.nanoseconds(concealedSamples) >= configuration.longestConcealment.nanoseconds
    return isPausing || isLong ? .silence : .concealment
  }

  // MARK: How long to wait

  /// Nanoseconds that a packet with the fastest transit waits.
  private func delay(at deadline: Instant) -> Int64 {
    deadline.nanoseconds &- timeline.nanoseconds(position) &- target.delays.floor
  }

  /// Whether the delay is so far below the target that a step brings it closer, but not further than any network
  /// explains.
  private func isTooShort(at deadline: Instant) -> Bool {
    let deficit = target.value &- delay(at: deadline)
    return deficit >= target.step / 2 && deficit <= 2 * configuration.maximumDelay.nanoseconds
  }

  /// Whether a pause is inserted now to reach a delay that was asked for.
  private mutating func pausesToGrow(at deadline: Instant) -> Bool {
    guard growsAtOnce, packets.first != nil else { return false }
    guard isTooShort(at: deadline) else {
      growsAtOnce = false
      return false
    }
    emit(fillerContent, samples: stepSamples, at: deadline)
    counters.insertedSamplesForDeceleration += UInt64(stepSamples)
    isAfterDiscontinuity = true
    return true
  }

  /// Samples inserted to delay playout: one packet, but at most 20 ms.
  private var stepSamples: Int64 { max(timeline.shortest, timeline.wholeFrames(timeline.samples(target.step))) }

  /// A packet that arrives after its time was filled is dropped if there is another one and the delay is long enough.
  /// Otherwise it is played anyway, which increases the delay.
  private mutating func settleLatePackets(at deadline: Instant) {
    while let first = packets.first, first.media < position {
      if packets.count > 1, delay(at: deadline) >= target.value {
        packets.removeFirst()
        noteMissing(before: first.sequence)
        counters.packetsDiscarded += 1
        expect(first.sequence &+ 1, at: position)
        continue
      }
      putOff(to: first.media)
      break
    }
    // A lost packet's time was filled, at least partly, before the next packet arrived, which may carry its copy. With
    // more delay the copy would have been in time, so increase it.
    guard let first = packets.first, let nextSequence, first.sequence > nextSequence, emptySamples > 0,
      first.media &- position < packetSamples, isTooShort(at: deadline)
    else { return }
    putOff(to: first.media &- packetSamples)
  }

  private mutating func putOff(to media: Int64) {
    counters.insertedSamplesForDeceleration += UInt64(max(0, position &- media))
    position = media
    isAfterDiscontinuity = true
  }

  /// Drops audio if the delay has been too long for a while, or is far too long.
  private mutating func shortenDelay(at deadline: Instant) {
    guard let first = packets.first, nextSequence != nil else { return }
    let excess = delay(at: deadline) &- target.value
    let worthwhile = max(target.packetTime, 20_000_000)
    guard excess >= worthwhile else {
      tooLongSince = nil
      return
    }
    let since = tooLongSince ?? deadline
    tooLongSince = since
    // The fastest transit may be outdated: only audio that is actually buffered can be dropped.
    let spare = min(excess, timeline.nanoseconds(waitingSamples) &- target.value)
    if spare >= configuration.catchUpAbove.nanoseconds {
      leaveOut(timeline.samples(spare))
      return
    }
    // The longer the delay, the sooner; at once where there is nothing to hear.
    let patience = 1_000_000_000 / max(1, excess / 20_000_000)
    let isFree = first.media &- position >= timeline.shortest
    guard spare >= worthwhile, isFree || (deadline - since).nanoseconds >= patience else { return }
    leaveOut(packetSamples)
    tooLongSince = deadline
  }

  private mutating func leaveOut(_ samples: Int64) {
    let old = position
    let end = position &+ samples
    while packets.count > 1, let first = packets.first, first.end <= end {
      packets.removeFirst()
      noteMissing(before: first.sequence)
      expect(first.sequence &+ 1, at: first.end)
    }
    if let first = packets.first, let nextSequence {
      position = min(end, max(position, first.media))
      // Of the lost packets before it, those whose time has not passed.
      let left = (max(0, first.media &- position) + packetSamples - 1) / packetSamples
      expect(max(nextSequence, first.sequence &- left), at: position)
    }
    counters.removedSamplesForAcceleration += UInt64(max(0, position &- old))
    isAfterDiscontinuity = true
  }
}
