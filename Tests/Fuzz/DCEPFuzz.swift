import SCTP
import TestSupport
import Wire

/// Channel establishment messages, each as the next message of a peer whose association is up.
enum DCEPFuzz: FuzzBody {
  static let name = "dcep"

  static let seeds: [[UInt8]] = [
    [2],
    [3, 0x00, 1, 0, 0, 0, 0, 0, 0, 7, 0, 17] + Array("control".utf8) + Array("cradle.control.v1".utf8),
    [3, 0x81, 0, 128, 0, 0, 0, 3, 0, 1, 0, 0, 0x61],
    [3, 0x82, 2, 0, 0, 0, 0, 200, 0, 0, 0, 1, 0x70],
  ]

  static func run(_ input: [UInt8]) {
    guard !input.isEmpty, input.count < 60_000 else { return }
    let pair = SCTPFuzz.pair
    // An id that is free, one that is taken and one that the peer may not use.
    for stream in [0, 1, 3] as [UInt16] {
      var transport = pair.server
      var writer = ByteWriter()
      writer.write(zeros: 12)
      writer.write(UInt8(0))
      writer.write(UInt8(7))
      writer.write(UInt16(truncatingIfNeeded: 16 + input.count))
      writer.write(pair.nextTSN)
      writer.write(stream)
      writer.write(UInt16(0))
      writer.write(UInt32(50))
      writer.write(contentsOf: input)
      writer.pad(to: 4)
      transport.handle(packet: pair.addressed(writer.bytes, tag: pair.serverTag), now: pair.now)
      var outputs = 0
      while transport.poll() != nil {
        outputs += 1
        precondition(outputs < 100, "one message must not cause outputs without end")
      }
      _ = try? transport.send(.text("x"), on: stream, now: pair.now)
      while transport.poll() != nil {}
    }
  }
}
