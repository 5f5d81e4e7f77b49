import PeerConnection
import SCTP
import Simulation
import TestSupport
import Testing
import Wire

/// Every number on the wire ends somewhere and begins again.
@Suite struct WraparoundTests {
  /// Draws numbers whose lower 32 bits are about to wrap: RTP timestamps, transport-wide sequence numbers, TSNs.
  private struct NearlyWrapping: RandomNumberGenerator, Sendable {
    var base: SeededGenerator
    mutating func next() -> UInt64 { base.next() | 0xffff_ff00 }
  }

  private func nearlyWrapping(_ seed: UInt64) throws -> SimulatedPair {
    let pair = try SimulatedPair.connected(
      seed: seed, childRandom: NearlyWrapping(base: SeededGenerator(seed: seed)))
    pair.camera = TestCamera(pictureID: 0x7ff0, tl0PictureIndex: 250)
    pair.microphone = TestMicrophone()
    return pair
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func timestampsAndIdentifiersWrapUnseen(seed: UInt64) throws {
    let pair = try nearlyWrapping(seed)
    pair.run(for: .seconds(8))
    #expect(pair.viewer.pictures.count >= 235)
    #expect(pair.viewer.pictures.map(\.number) == Array(0..<pair.viewer.pictures.count))
    #expect(pair.viewer.sounds.last! - pair.viewer.sounds.count <= 4)
    #expect(pair.viewer.brokenSounds == 0 && pair.viewer.concealments == 0)
    #expect(pair.pliCount == 0)
    let child = pair.child.statistics(now: pair.now)
    // Were the transport-wide numbers not unwrapped, everything would seem lost.
    #expect(child.availableOutgoingKbps >= 1500)
  }

  /// Reports interpolate, so the moments of pictures go on evenly from one report to the next, and across the wrap.
  @Test func captureTimesGoOnEvenly() throws {
    let pair = try nearlyWrapping(1)
    pair.run(for: .seconds(6))
    let times = pair.viewer.pictures.compactMap(\.captureTime)
    #expect(times.count > 150)
    let steps = zip(times, times.dropFirst()).map { $1 - $0 }
    #expect(steps.min()! >= .milliseconds(32) && steps.max()! <= .milliseconds(34))
  }

  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func theyWrapUnderLossToo(seed: UInt64) throws {
    let pair = try nearlyWrapping(seed)
    pair.link = .init(delay: .milliseconds(10), jitter: .milliseconds(5), loss: 0.1)
    pair.run(for: .seconds(8))
    #expect(pair.viewer.pictures.count >= 225)
    #expect(pair.viewer.brokenPictures == 0 && pair.viewer.brokenSounds == 0)
    #expect(pair.pliCount <= 2)
  }

  @Test func transmissionSequenceNumbersOfDataChannelsWrap() throws {
    let pair = try nearlyWrapping(4)
    pair.camera = nil
    pair.microphone = nil
    pair.link = .init(delay: .milliseconds(5), loss: 0.1)
    let channel = try pair.child.openDataChannel(DataChannelParameters(label: "log"), now: pair.now)
    for number in 0..<600 {
      try pair.child.send(.text("\(number) " + String(repeating: "x", count: 600)), on: channel, now: pair.now)
    }
    pair.drain()
    func received() -> [String] {
      pair.parentEvents.compactMap { if case .dataChannelMessage(_, .text(let text)) = $0 { text } else { nil } }
    }
    #expect(pair.run(until: { received().count >= 600 }, limit: .seconds(120)))
    #expect(received().map { $0.prefix { $0 != " " } } == (0..<600).map { "\($0)"[...] })
  }

  /// Sequence numbers begin in the lower half of the circle: the sender goes through the upper half unheard, then the
  /// viewer sees it wrap while packets get lost.
  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func sequenceNumbersWrapUnderLoss(seed: UInt64) throws {
    let pair = try nearlyWrapping(seed)
    var numbers: [UInt16] = []
    pair.onSend = { side, datagram in
      guard side == .child, kind(of: datagram) == .rtp, datagram[8...11].elementsEqual([0, 0, 0, 200]) else { return }
      numbers.append(UInt16(datagram[2]) << 8 | UInt16(datagram[3]))
    }
    pair.toParent.isCut = true
    pair.microphone = nil
    pair.camera!.byteCount = 34 * 125
    pair.camera!.keyFrameByteCount = 34 * 125
    pair.camera!.payloadSize = 40
    try #require(pair.run(until: { numbers.last.map { $0 > 65_200 } ?? false }, limit: .seconds(12)))
    pair.camera = TestCamera()
    pair.camera!.byteCount = 4000
    pair.link = .init(delay: .milliseconds(10), loss: 0.03)
    numbers = []
    pair.run(for: .seconds(6))
    #expect(numbers.first! > 65_000 && numbers.last! < 2000)
    #expect(pair.viewer.brokenPictures == 0)
    #expect(pair.viewer.pictures.count > 160)
    #expect(pair.pliCount <= 1)
  }
}
