internal import COpus
public import Frames

/// Opus by libopus (RFC 6716) to 48 kHz mono; stereo packets are mixed down. Synchronous; used from one thread at a
/// time.
public final class OpusDecoder {
  private let decoder: OpaquePointer
  /// 120 ms, the longest packet. RFC 6716 section 3.2.5.
  private static let maximumSamples = 5760

  public init() throws(CodecError) {
    var status: Int32 = 0
    guard let decoder = opus_decoder_create(Int32(AudioFormat.sampleRate), 1, &status), status == OPUS_OK else {
      throw .setUp("Opus decoder: \(opusText(status))")
    }
    self.decoder = decoder
  }

  deinit {
    opus_decoder_destroy(decoder)
  }

  /// Decodes a packet: 960 samples for ours, up to 5760 for others'. Throws `corrupt` if it is not an Opus packet.
  public func decode(_ packet: [UInt8]) throws(CodecError) -> [Int16] {
    guard !packet.isEmpty else { throw .corrupt("an empty Opus packet") }
    return try decode(packet, samples: Self.maximumSamples, errorCorrection: false)
  }

  /// Recovers the lost packet before `packet` from its in-band FEC, or conceals the loss if there is none.
  public func decodeLost(before packet: [UInt8], samples: Int = AudioFormat.samplesPerBlock) throws(CodecError)
    -> [Int16]
  {
    guard !packet.isEmpty else { return try conceal(samples: samples) }
    return try decode(packet, samples: samples, errorCorrection: true)
  }

  /// Packet loss concealment for a packet without FEC data.
  public func conceal(samples: Int = AudioFormat.samplesPerBlock) throws(CodecError) -> [Int16] {
    try decode(nil, samples: samples, errorCorrection: false)
  }

  /// `samples` is the buffer size for a packet, but exactly the length of the gap for a lost one, a multiple of 2.5 ms.
  private func decode(_ packet: [UInt8]?, samples: Int, errorCorrection: Bool) throws(CodecError) -> [Int16] {
    guard samples > 0, samples <= Self.maximumSamples, samples % 120 == 0 else { throw .failed("\(samples) samples") }
    var status: Int32 = 0
    let result = [Int16](unsafeUninitializedCapacity: samples) { buffer, count in
      status = opus_decode(
        decoder, packet, Int32(packet?.count ?? 0), buffer.baseAddress!, Int32(samples), errorCorrection ? 1 : 0)
      count = max(0, Int(status))
    }
    guard status > 0 else { throw .corrupt("Opus decoder: \(opusText(status))") }
    return result
  }
}
