internal import COpus
public import Frames

/// Opus by libopus (RFC 6716): 48 kHz mono, one packet per 20 ms block, or for several. Synchronous; used from one thread at a time.
public final class OpusEncoder {
  /// Clear speech and crying at full bandwidth, including the share for FEC.
  public static let defaultBitrateKbps = 40
  /// The expected loss for a path that loses packets, where nobody measures it. Above 5 %, so that libopus at our rate
  /// switches to its speech modes, which alone carry in-band FEC (RFC 6716 section 2.1.7).
  public static let lossyPathPercent = 10

  /// 0...10. Above 5 the gain is hard to hear at this rate, and 10 takes a fifth of the processor time of the picture.
  private static let complexity: Int32 = 5

  private let encoder: OpaquePointer
  /// Maximum packet size; at our rates packets are around 100 bytes.
  private static let maximumBytes = 1275

  /// The application is AUDIO: FEC is on where loss is expected; otherwise all bits go to sound in CELT mode, which
  /// takes a third of the processor time. No DTX: a silent nursery must sound silent, not absent.
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
    EncodedAudioPacket(
      data: try encode(block.samples), captureTime: block.captureTime, samplePosition: block.samplePosition)
  }

  /// One packet.
  ///
  /// - Parameter samples: 20, 40 or 60 ms of them.
  public func encode(_ samples: [Int16]) throws(CodecError) -> [UInt8] {
    var status: Int32 = 0
    let data = [UInt8](unsafeUninitializedCapacity: Self.maximumBytes) { buffer, count in
      status = opus_encode(encoder, samples, Int32(samples.count), buffer.baseAddress!, Int32(buffer.count))
      count = max(0, Int(status))
    }
    guard status > 0 else { throw .failed("Opus encoder: \(opusText(status))") }
    return data
  }

  /// Takes effect from the next packet; 6...256.
  public func setBitrate(kbps: Int) throws(CodecError) {
    try set(OPUS_SET_BITRATE_REQUEST, Int32(min(256, max(6, kbps)) * 1000))
  }

  /// The packet loss that FEC should withstand, from the next packet on; 0 turns FEC off.
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
