import RTP
import TestSupport
import VideoFormats

/// H.264 from others: parameter sets, byte streams and RTP payloads; any bytes as a picture for the packetizer.
enum H264PayloadFuzz: FuzzBody {
  static let name = "H.264 payload"

  static var seeds: [[UInt8]] {
    [
      Fixture.hex("6742c01fd900a02ff970110000030001000003003c0f183248"),
      Fixture.hex("67f4001f919b281b07bc5f8088000003000800000301e078c18cb0"),
      Fixture.hex("6764001facd9405005bb0110000003001000000303c0f1831960"),
      Fixture.hex("000000016742c01e8c8d405017fcb00f08846a0000000168ce3c800000000165b8000400"),
      Fixture.hex("18000f6742c01e8c8d405017fcb00f08846a000468ce3c80"), Fixture.hex("7c85b80004"), Fixture.hex("7c4511"),
    ]
  }

  static func run(_ input: [UInt8]) {
    if let parameters = try? H264SequenceParameters(parsing: input) {
      precondition((1...32_768).contains(parameters.width) && (1...32_768).contains(parameters.height), "a size")
    }
    // Packets of a peer: each begins with its length.
    var reception = H264Depacketizer(maximumUnitSize: 512)
    var rest = input[...]
    while let length = rest.first {
      let payload = rest.dropFirst().prefix(Int(length & 0x3f))
      rest = rest.dropFirst(1 + payload.count)
      let units = (try? reception.add(payload)) ?? []
      precondition(units.allSatisfy { (1...512).contains($0.count) }, "units are whole, and not too large")
    }
    _ = try? reception.add(input[...])
    checkRoundTrip(input)
  }

  /// What the packetizer makes of any bytes is what a receiver gets.
  private static func checkRoundTrip(_ input: [UInt8]) {
    let size = 16 + Int(input.first ?? 0)
    var packetizer = H264Packetizer()
    let payloads = packetizer.packetize(input, maximumPayloadSize: size)
    precondition(payloads.allSatisfy { $0.count <= size }, "payloads have a greatest size")
    let units = AnnexB.units(of: input)
    precondition(AnnexB.units(of: AnnexB.stream(of: units)) == units, "units come back")
    // Types beyond those of H.264, and a header with the forbidden bit, are refused by receivers.
    guard units.allSatisfy({ $0.first.map { $0 & 0x80 == 0 && (1...23).contains($0 & 0x1f) } ?? false }) else { return }
    var reception = H264Depacketizer()
    let received = payloads.flatMap { (try? reception.add($0[...])) ?? [] }
    let sent = units.filter { H264UnitType(of: $0) != .accessUnitDelimiter && H264UnitType(of: $0) != .filler }
    precondition(received.count >= sent.count, "every unit arrives")
    precondition(Set(sent.map { Array($0) }).isSubset(of: received), "every unit arrives whole")
  }
}
