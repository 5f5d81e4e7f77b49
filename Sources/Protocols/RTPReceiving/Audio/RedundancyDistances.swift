import RTP
import Wire

/// Finds the original packets of the copies in redundant audio. RFC 2198 section 3 gives the timestamp of each copy,
/// not its sequence number. A sender may skip packets between the copies, and audio that paused has timestamps without
/// packets.
struct RedundancyDistances: Sendable {
  /// The newest packet so far.
  private var newest: (sequence: Int64, timestamp: UInt32)?
  /// How many packets back the oldest copy in the last packet reached.
  private var lastReach: Int64?
  /// How long after a packet its last copy arrives; nil while there are no copies.
  private(set) var recoveryTime: Duration?

  mutating func reset() {
    newest = nil
    lastReach = nil
  }

  /// For each copy, how many packets before `sequence` its original was; nil if unknown.
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
    // There was a pause at an unknown position. If exactly one packet is missing, it is this one.
    return gap == 2 ? 1 : nil
  }

  private static func packets(_ offset: Int, of samples: Int) -> Int64? {
    let (packets, rest) = offset.quotientAndRemainder(dividingBy: samples)
    return rest == 0 ? Int64(packets) : nil
  }

  /// Accepted when two consecutive packets agree: a pause makes it ambiguous.
  private mutating func noteReach(_ reach: Int64?, of audio: RedundantAudio) {
    defer { lastReach = reach }
    guard let reach, reach > 0, reach == lastReach, let packet = try? OpusPacketInfo(parsing: audio.primary) else {
      return
    }
    recoveryTime = .microseconds(packet.frameMicroseconds * packet.frameCount * Int(reach))
  }
}
