import RTP
import TestSupport
import Wire

/// VP8 payload descriptors; any bytes as a frame for the packetizer.
enum VP8PayloadFuzz: FuzzBody {
  static let name = "VP8 payload"

  static var seeds: [[UInt8]] {
    [
      Fixture.hex("90800005b05f009d012a4001f000004708858588"), Fixture.hex("b0f09122076baabbccdd"),
      Fixture.hex("10110600111780018891ac"), Fixture.hex("90f01107601106"),
    ]
  }

  static func run(_ input: [UInt8]) {
    var payload = input[...]
    if let descriptor = try? VP8PayloadDescriptor(parsing: &payload) {
      var writer = ByteWriter()
      descriptor.write(to: &writer)
      var written = writer.bytes[...]
      _ = try? VP8PayloadDescriptor(parsing: &written)
      precondition(written.isEmpty, "a descriptor is as long as it says")
    }
    var lowered = input
    _ = VP8Packetizer.counters(in: lowered, payloadOffset: Int(input.first ?? 0) % 8)
    VP8Packetizer.lowerCounters(
      by: VP8CounterOffset(pictureID: 3, tl0PictureIndex: 7), in: &lowered, payloadOffset: Int(input.first ?? 0) % 8)
    var packetizer = VP8Packetizer()
    let size = 16 + Int(input.first ?? 0)
    let payloads = packetizer.packetize(input, isKeyFrame: false, maximumPayloadSize: size)
    let joined = payloads.flatMap { $0.dropFirst(VP8Packetizer.descriptorByteCount) }
    precondition(joined == input && payloads.allSatisfy { $0.count <= size }, "parts join to the frame")
  }
}
