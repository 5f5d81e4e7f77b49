import RTP
import Wire

/// Which earlier packets the copies in redundant audio are of. RFC 2198 section 3 tells the timestamp of each, not its
/// sequence number. A sender may leave packets out between the copies, and sound that paused has timestamps without
/// packets.
struct RedundancyDistances: Sendable {
  /// The newest packet so far.
  private var newest: (sequence: Int64, timestamp: UInt32)?
  /// How far back the oldest copy reached in the last packet, in packets.
  private var lastReach: Int64?
  /// How long after a packet its last copy comes; nil while there are no copies.
  private(set) var recoveryTime: Duration?

  mutating func reset() {
    newest = nil
    lastReach = nil
  }

  /// For each copy, how many packets before `sequence` its original was; nil where that cannot be told.
  mutating func distances(of audio: RedundantAudio, sequence: Int64, timestamp: UInt32) -> [Int64?] {
    let before = newest
    if before.map({ $0.sequence < sequence }) ?? true { newest = (sequence, timestamp) }
    let distances = audio.redundant.map { distance(of: $0, sequence: sequence, timestamp: timestamp, before: before) }
    if let oldest = distances.first { noteReach(oldest, of: audio) }
    return distances
  }

  private func distance(
    of copy: RedundantAudio.Block, sequence: Int64, timestamp: UInt32, before: (sequence: Int64, timestamp: UInt32)?
  ) -> Int64? {
    guard let samples = try? OpusPacketInfo(parsing: copy.data).samplesAt48kHz else { return nil }
    let offset = Int(copy.timestampOffset)
    guard let before, before.sequence < sequence else { return Self.packets(offset, of: samples) }
    let gap = sequence - before.sequence
    let passed = Int(Int32(bitPattern: timestamp &- before.timestamp))
    guard passed > 0 else { return nil }
    if offset >= passed { return Self.packets(offset - passed, of: samples).map { $0 + gap } }
    if Int64(passed) == gap &* Int64(samples) { return Self.packets(offset, of: samples) }
    // There was a pause, and nobody knows where. If one packet is missing, it is this one.
    return gap == 2 ? 1 : nil
  }

  private static func packets(_ offset: Int, of samples: Int) -> Int64? {
    let (packets, rest) = offset.quotientAndRemainder(dividingBy: samples)
    return rest == 0 ? Int64(packets) : nil
  }

  /// Believed when two packets in a row agree: over a pause nobody knows.
  private mutating func noteReach(_ reach: Int64?, of audio: RedundantAudio) {
    defer { lastReach = reach }
    guard let reach, reach > 0, reach == lastReach, let packet = try? OpusPacketInfo(parsing: audio.primary) else {
      return
    }
    recoveryTime = .microseconds(packet.frameMicroseconds * packet.frameCount * Int(reach))
  }
}
