internal import COpus
public import Frames

/// Opus by libopus (RFC 6716): 48 kHz mono, one packet per 20 ms block. Synchronous; used from one thread at a time.
public final class OpusEncoder {
  /// Clear speech and crying at full bandwidth with the error correction's share in it.
  public static let defaultBitrateKbps = 40
  /// With what counts as a path that loses packets. Enough for libopus to change to its speech modes, which alone carry
  /// in-band error correction (RFC 6716 section 2.1.7), at our rate: above 5 %.
  public static let lossyPathPercent = 10

  /// 0...10. From 5 on the gain is hard to hear at this rate, and the highest takes a fifth of what the picture takes.
  private static let complexity: Int32 = 5

  private let encoder: OpaquePointer
  /// The largest packet; at our rates they are around 100 bytes.
  private static let maximumBytes = 1275

  /// The application is AUDIO: error correction is on where loss is expected, and where none is, all bits go to sound in
  /// the transform mode, which takes a third of the processor time. No DTX: a silent nursery must sound silent, not absent.
  public init(
    bitrateKbps: Int = OpusEncoder.defaultBitrateKbps,
    expectedLossPercent: Int = OpusEncoder.lossyPathPercent
  ) throws(CodecError) {
    var status: Int32 = 0
    guard
      let encoder = opus_encoder_create(Int32(AudioFormat.sampleRate), 1, OPUS_APPLICATION_AUDIO, &status),
      status == OPUS_OK
    else { throw .setUp("Opus encoder: \(opusText(status))") }
    self.encoder = encoder
    try set(OPUS_SET_INBAND_FEC_REQUEST, 1)
    try set(OPUS_SET_DTX_REQUEST, 0)
    try set(OPUS_SET_COMPLEXITY_REQUEST, Self.complexity)
    try setBitrate(kbps: bitrateKbps)
    try setExpectedLoss(percent: expectedLossPercent)
  }

  deinit {
    opus_encoder_destroy(encoder)
  }

  /// One packet for one block.
  public func encode(_ block: AudioBlock) throws(CodecError) -> EncodedAudioPacket {
    var status: Int32 = 0
    let data = [UInt8](unsafeUninitializedCapacity: Self.maximumBytes) { buffer, count in
      status = opus_encode(
        encoder, block.samples, Int32(block.samples.count), buffer.baseAddress!, Int32(buffer.count))
      count = max(0, Int(status))
    }
    guard status > 0 else { throw .failed("Opus encoder: \(opusText(status))") }
    return EncodedAudioPacket(data: data, captureTime: block.captureTime, samplePosition: block.samplePosition)
  }

  /// From the next packet on; 6...256.
  public func setBitrate(kbps: Int) throws(CodecError) {
    try set(OPUS_SET_BITRATE_REQUEST, Int32(min(256, max(6, kbps)) * 1000))
  }

  /// How much loss the error correction should stand, from the next packet on; 0 turns it off.
  public func setExpectedLoss(percent: Int) throws(CodecError) {
    try set(OPUS_SET_PACKET_LOSS_PERC_REQUEST, Int32(min(100, max(0, percent))))
  }

  private func set(_ request: Int32, _ value: Int32) throws(CodecError) {
    let status = copus_encoder_set(encoder, request, value)
    guard status == OPUS_OK else { throw .failed("Opus encoder: \(opusText(status))") }
  }
}

func opusText(_ status: Int32) -> String {
  String(cString: opus_strerror(status))
}
