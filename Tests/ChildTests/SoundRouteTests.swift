import Frames
import Testing
import Wire

@testable import Child

@Suite struct SoundRouteTests {
  /// Blocks of 20 ms as the pipeline delivers them: a full packet each, and after every third a narrow one.
  private static func packets(blocks: Range<UInt64>) -> [EncodedAudioPacket] {
    blocks.flatMap { block in
      let position = block * 960
      var packets = [
        EncodedAudioPacket(data: [1], captureTime: .zero, samplePosition: position, isJunction: block % 3 == 0)
      ]
      if block % 3 == 2 {
        packets.append(
          EncodedAudioPacket(
            data: [2], captureTime: .zero, samplePosition: position - 2 * 960, rendition: .narrow))
      }
      return packets
    }
  }

  /// What is sent of these blocks, as the blocks that it covers.
  private static func sent(_ route: inout SoundRoute, _ blocks: Range<UInt64>) -> [UInt64] {
    packets(blocks: blocks).filter { route.accept($0) }.flatMap { packet in
      let first = packet.samplePosition / 960
      return packet.rendition == .full ? [first] : [first, first + 1, first + 2]
    }
  }

  @Test func eachMomentIsSentOnceWhileTheRenditionChanges() {
    var route = SoundRoute()
    var sent = Self.sent(&route, 0..<7)
    route.follow(estimateKbps: 60, now: .zero)
    sent += Self.sent(&route, 7..<20)
    #expect(route.current == .narrow)
    route.follow(estimateKbps: 200, now: .zero + .seconds(1))
    route.follow(estimateKbps: 200, now: .zero + .seconds(6))
    #expect(route.target == .full && route.needsNarrow)
    sent += Self.sent(&route, 20..<30)
    #expect(route.current == .full && !route.needsNarrow)
    #expect(sent == Array(0..<30))
  }

  @Test func withoutTheNarrowOneTheFullOneGoesOn() {
    var route = SoundRoute()
    route.follow(estimateKbps: 60, now: .zero)
    let packet = EncodedAudioPacket(data: [1], captureTime: .zero, samplePosition: 0)
    #expect((0..<10).allSatisfy { _ in route.accept(packet) })
  }

  @Test func aPathThatIsWideForAMomentKeepsTheNarrowOne() {
    var route = SoundRoute()
    route.follow(estimateKbps: nil, now: .zero)
    #expect(route.target == .full)
    route.follow(estimateKbps: 99, now: .zero + .seconds(1))
    #expect(route.target == .narrow)
    for second in 2..<60 {
      route.follow(estimateKbps: second % 4 == 0 ? 120 : 300, now: .zero + .seconds(second))
      #expect(route.target == .narrow)
    }
    for second in 60..<66 { route.follow(estimateKbps: 140, now: .zero + .seconds(second)) }
    #expect(route.target == .full)
  }

  @Test func itsShareOfThePathIsKnown() {
    var route = SoundRoute()
    #expect(route.kbps(ofEstimate: 2000) == 105 && route.kbps(ofEstimate: 200) == 63)
    route.follow(estimateKbps: 60, now: .zero)
    #expect(route.kbps(ofEstimate: 60) == 25)
  }

  @Test func aListenerThatWantsLittleGetsTheNarrowOneFromItsFirstPacketOn() {
    var route = SoundRoute(limitKbps: 40)
    #expect(route.needsNarrow && route.kbps(ofEstimate: 2000) == 25)
    for second in 0..<20 { route.follow(estimateKbps: 2000, now: .zero + .seconds(second)) }
    #expect(Self.sent(&route, 0..<30).count == 30 && route.current == .narrow)
    // Enough for the full one, not for copies.
    var full = SoundRoute(limitKbps: 80)
    full.follow(estimateKbps: 2000, now: .zero)
    #expect(full.target == .full && full.kbps(ofEstimate: 2000) == 63)
    #expect(SoundRoute(limitKbps: 200).kbps(ofEstimate: 2000) == 105)
  }
}
