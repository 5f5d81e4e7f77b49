internal import Codecs
internal import Frames

/// The microphone's sound for listeners whose path carries less than 100 kbit/s: 16 kbit/s in packets of 60 ms. With
/// headers that is 24 kbit/s instead of 63.
///
/// Used from one thread at a time.
final class NarrowSound {
  static let bitrateKbps = 16
  static let blocksPerPacket = 3

  /// The packet loss that FEC should withstand; 0: none.
  var expectedLossPercent = 0 {
    didSet {
      if expectedLossPercent != oldValue { try? encoder.setExpectedLoss(percent: expectedLossPercent) }
    }
  }
  private let encoder: OpusEncoder
  private var waiting: [AudioBlock] = []

  init() throws(CodecError) {
    encoder = try OpusEncoder(bitrateKbps: Self.bitrateKbps, expectedLossPercent: 0)
  }

  /// Whether this block, the next to be added, is the first of a packet.
  func beginsPacket(with block: AudioBlock) -> Bool {
    waiting.isEmpty || !follows(block)
  }

  /// The packet that this block completes. Blocks before a gap are left out of it.
  func add(_ block: AudioBlock) throws(CodecError) -> EncodedAudioPacket? {
    if beginsPacket(with: block) { waiting = [] }
    waiting.append(block)
    guard waiting.count == Self.blocksPerPacket else { return nil }
    let samples = waiting.flatMap(\.samples)
    let first = waiting[0]
    waiting = []
    return EncodedAudioPacket(
      data: try encoder.encode(samples), captureTime: first.captureTime, samplePosition: first.samplePosition,
      rendition: .narrow)
  }

  private func follows(_ block: AudioBlock) -> Bool {
    waiting.last.map { $0.samplePosition + UInt64(AudioFormat.samplesPerBlock) == block.samplePosition } ?? false
  }
}
