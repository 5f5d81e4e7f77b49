import RTP
import TestSupport
import Testing
import Wire

@testable import RTPReceiving

@Suite struct AudioPartsTests {
  @Test(arguments: [
    ("opus-with-copy-libopus.bin", 960), ("opus-without-copy-libopus.bin", 0),
    ("opus-with-copy-stereo-60ms-libopus.bin", 960),
  ])
  func copyOfThePreviousPacketIsSeen(name: String, expected: Int) throws {
    let packet = Fixture.bytes(name)
    let info = try OpusPacketInfo(parsing: packet)
    #expect(info.copiedSamples(in: packet) == expected)
    for count in 1..<packet.count {
      guard let info = try? OpusPacketInfo(parsing: packet[..<count]) else { continue }
      _ = info.copiedSamples(in: Array(packet[..<count]))
    }
  }

  @Test(arguments: [
    // One frame of 20 ms, two of equal length, two of their own lengths, and any number with padding and lengths.
    "08 40", "09 40 00", "0a 01 40 00", "0a fc 01 40", "0b 02 40 00", "0b 42 ff 03 40", "0b 82 01 40 00",
    "0b c2 00 01 40 00",
    // 60 ms, and the side channel of 20 ms of stereo.
    "18 10", "0c 10",
  ])
  func firstFrameIsFoundInAllPackings(packet: String) throws {
    let bytes = Fixture.hex(packet)
    #expect(try OpusPacketInfo(parsing: bytes).copiedSamples(in: bytes) > 0)
  }

  @Test(arguments: ["08 bf", "08", "80 ff", "18 ef", "0c af", "0a", "0b 42 ff", "0b 42 ff ff ff", "0b 83 fc"])
  func packetsWithoutACopyHaveNone(packet: String) throws {
    let bytes = Fixture.hex(packet)
    #expect(try OpusPacketInfo(parsing: bytes).copiedSamples(in: bytes) == 0)
  }

  @Test func quantileFollowsTheSlowPacketsAndForgetsThem() {
    var estimate = DelayEstimate(maximum: .milliseconds(500))
    var now = Instant.zero
    func add(_ milliseconds: Int64, for seconds: Int) {
      for index in 0..<seconds * 50 {
        // Every fifth packet is slow.
        let transit = 1_000_000_000 + (index % 5 == 0 ? milliseconds * 1_000_000 : 0)
        estimate.add(transit: transit, at: now)
        now += .milliseconds(20)
      }
    }
    #expect(estimate.quantile == nil)
    add(0, for: 2)
    #expect(estimate.isSettled)
    #expect(estimate.quantile == 5_000_000)
    add(63, for: 30)
    #expect(estimate.quantile == 65_000_000)
    #expect(estimate.floor == 1_000_000_000)
    add(0, for: 55)
    #expect(estimate.quantile == 5_000_000)
    // Beyond what can be waited for.
    add(900, for: 30)
    #expect(estimate.quantile == 5_000_000)
  }

  @Test func floorFollowsALongerPathWithinSeconds() {
    var estimate = DelayEstimate(maximum: .milliseconds(500))
    for index in 0..<100 { estimate.add(transit: 50, at: .zero + .milliseconds(index * 20)) }
    for index in 100..<320 { estimate.add(transit: 90, at: .zero + .milliseconds(index * 20)) }
    #expect(estimate.floor == 90)
    estimate.add(transit: 40, at: .zero + .seconds(7))
    #expect(estimate.floor == 40)
    estimate.add(transit: .max - 1, at: .zero + .seconds(8))
    estimate.add(transit: .min, at: .zero + .seconds(8))
    estimate.add(transit: .max, at: .distantFuture)
    #expect(estimate.quantile != nil)
  }

  @Test func timeLineGoesOnOverWrapAndJumps() {
    var timeline = AudioJitterBufferTimeline(clockRate: 48_000)
    func place(_ sequence: Int64, _ timestamp: UInt32, at milliseconds: Int) -> Int64? {
      timeline.place(
        sequence: sequence, timestamp: timestamp, samples: 960, isRecovered: false,
        now: .zero + .milliseconds(milliseconds))
    }
    #expect(place(10, 0xffff_ff00, at: 0) == 0)
    #expect(place(11, 0xffff_ff00 &+ 960, at: 20) == 960)
    #expect(timeline.rtpTimestamp(at: 960) == 704)
    // Out of order.
    #expect(place(9, 0xffff_ff00 &- 960, at: 25) == -960)
    // A pause of 10 s.
    #expect(place(12, 704 + 481_000, at: 10_020) == 481_960)
    // Jumps forth and back.
    #expect(place(13, 704 + 5_000_000, at: 10_040) == 482_920)
    #expect(place(15, 1000, at: 10_080) == 484_840)
    #expect(timeline.rtpTimestamp(at: 484_840) == 1000)
    #expect(place(16, 1960, at: 10_100) == 485_800)
    // From before the jump.
    #expect(place(14, 704 + 5_000_960, at: 10_100) == nil)
    let copy = timeline.place(sequence: 17, timestamp: 99_999_999, samples: 960, isRecovered: true, now: .zero)
    #expect(copy == nil)
  }

  @Test func packetsAreKeptWithinTheCapacity() {
    var packets = AudioJitterBufferPackets()
    func packet(_ sequence: Int64) -> BufferedAudioPacket {
      BufferedAudioPacket(
        sequence: sequence, media: sequence * 960, samples: 960, payload: [8, 0, 0], arrival: .zero, isRecovered: false,
        copiedSamples: 0)
    }
    #expect(packets.removeFirst() == nil)
    for sequence: Int64 in [-3, 5, 1, 252] { packets.insert(packet(sequence)) }
    #expect(packets.count == 4 && packets.byteCount == 12)
    #expect(packets.contains(5) && !packets.contains(5 + 256) && !packets.contains(2))
    #expect(packets.fits(0) && !packets.fits(253) && !packets.fits(-4))
    #expect(packets.last?.sequence == 252)
    var order: [Int64] = []
    while let next = packets.removeFirst() { order.append(next.sequence) }
    #expect(order == [-3, 1, 5, 252])
    #expect(packets.byteCount == 0 && packets.first == nil && packets.last == nil)
    #expect(packets.fits(100_000))
  }
}
