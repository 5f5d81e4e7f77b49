import RTP
import Testing
import Wire

@testable import RTPReceiving

/// RFC 2198: a copy says when it was, not which packet.
@Suite struct RedundancyTests {
  private static func opus(_ number: Int) -> [UInt8] { [0xf8, UInt8(truncatingIfNeeded: number), 1] }

  /// Copies of the packets that lie `offsets` samples back.
  private static func audio(_ offsets: [UInt16]) -> RedundantAudio {
    RedundantAudio(
      redundant: offsets.map { .init(payloadType: 111, timestampOffset: $0, data: opus(0)[...]) },
      primaryPayloadType: 111, primary: opus(0)[...])
  }

  @Test func copiesFurtherBackAreThoseOfFurtherPackets() {
    var distances = RedundancyDistances()
    #expect(distances.distances(of: Self.audio([1920]), sequence: 10, timestamp: 9600) == [2])
    #expect(distances.recoveryTime == nil)
    #expect(distances.distances(of: Self.audio([1920, 960]), sequence: 11, timestamp: 10_560) == [2, 1])
    #expect(distances.recoveryTime == .milliseconds(40))
    #expect(distances.distances(of: Self.audio([2880, 960]), sequence: 14, timestamp: 13_440) == [3, 1])
    // Out of order, and no whole number of packets back.
    #expect(distances.distances(of: Self.audio([960]), sequence: 13, timestamp: 12_480) == [1])
    #expect(distances.distances(of: Self.audio([1000]), sequence: 15, timestamp: 14_400) == [nil])
    #expect(distances.distances(of: Self.audio([]), sequence: 16, timestamp: 15_360) == [])
  }

  @Test func aPauseBetweenIsNotTakenForPackets() {
    var distances = RedundancyDistances()
    _ = distances.distances(of: Self.audio([]), sequence: 10, timestamp: 9600)
    // 100 ms of pause, nothing lost: the copies are of the packets before the pause.
    #expect(distances.distances(of: Self.audio([5760, 4800]), sequence: 11, timestamp: 14_400) == [2, 1])
    // A pause and one packet lost: it is the one whose time lies between.
    #expect(distances.distances(of: Self.audio([3840, 960]), sequence: 13, timestamp: 18_240) == [2, 1])
    // A pause and two packets lost: nobody knows.
    #expect(distances.distances(of: Self.audio([960]), sequence: 16, timestamp: 28_240) == [nil])
    // The clock has jumped back.
    #expect(distances.distances(of: Self.audio([960]), sequence: 17, timestamp: 100) == [nil])
  }

  @Test func aCopyOfThePacketBeforeTheLastFillsItsOwnPlace() {
    var rig = ReceiverRig(video: nil, audio: .audio())
    for number in 0..<60 {
      defer { rig.run(for: .milliseconds(20)) }
      // Two packets in a row get lost, again and again; each is repeated two packets later.
      guard number < 10 || number % 10 > 1 else { continue }
      let copies =
        number < 2
        ? []
        : [
          RedundantAudio.Block(
            payloadType: 111, timestampOffset: 1920, data: Self.opus(number - 2)[...])
        ]
      let payload = RedundantAudio(
        redundant: copies, primaryPayloadType: 111, primary: Self.opus(number)[...]
      ).write()
      let header = RTPHeader(
        payloadType: 63, sequenceNumber: UInt16(number), timestamp: UInt32(number) * 960, ssrc: audioSSRC)
      rig.receive(RTPPacket(header: header, payload: payload[...]))
    }
    let played = rig.sound.compactMap { element -> UInt8? in
      if case .packet(let bytes) = element.element.content { bytes[1] } else { nil }
    }
    #expect(played == played.sorted() && Set(played).count == played.count)
    #expect(played.filter { $0 >= 30 } == Array(30..<(played.last ?? 0) + 1) && played.count > 45)
  }
}
