import Codecs
import Frames
import Glibc
import RTPReceiving
import Sound
import Wire

/// A talker: the test tone as Opus packets in their order.
final class TalkPackets {
  private let encoder: OpusEncoder
  private var generator = ToneGenerator()
  private var count = 0

  init() throws {
    encoder = try OpusEncoder()
  }

  func packets(_ count: Int) throws -> [ReceivedAudio] {
    try (0..<count).map { _ in
      defer { self.count += 1 }
      // The wall clock at half a second: no beep.
      let block = generator.makeBlock(
        captureTime: .zero, samplePosition: UInt64(960 * self.count), unixNanoseconds: 500_000_000)
      let packet = try encoder.encode(block)
      return ReceivedAudio(
        content: .packet(packet.data), rtpTimestamp: UInt32(960 * self.count), samples: 960)
    }
  }

  /// Of a WAV file as the file speaker writes it.
  static func samples(of path: String) throws -> [Int16] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return stride(from: 44, to: count - 1, by: 2).map {
      Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
  }
}
