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

  /// The samples of a packet: 960 for ours, up to 5760 for others'. Throws `corrupt` for what is no Opus packet.
  public func decode(_ packet: [UInt8]) throws(CodecError) -> [Int16] {
    guard !packet.isEmpty else { throw .corrupt("an empty Opus packet") }
    return try decode(packet, samples: Self.maximumSamples, errorCorrection: false)
  }

  /// The lost packet before `packet`, from the copy that `packet` carries, or concealed if it carries none.
  public func decodeLost(before packet: [UInt8], samples: Int = AudioFormat.samplesPerBlock) throws(CodecError)
    -> [Int16]
  {
    guard !packet.isEmpty else { return try conceal(samples: samples) }
    return try decode(packet, samples: samples, errorCorrection: true)
  }

  /// A guess at a lost packet of which nothing came.
  public func conceal(samples: Int = AudioFormat.samplesPerBlock) throws(CodecError) -> [Int16] {
    try decode(nil, samples: samples, errorCorrection: false)
  }

  /// `samples` is the room for a packet, and exactly the gap's length for a lost one, in steps of 2.5 ms.
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
