import RTP
import RTPSending
import TestSupport
import Testing
import Wire

/// Sound that carries copies of earlier sound. RFC 2198.
@Suite struct RedundancyTests {
  private static let redPayloadType: UInt8 = 63

  /// A call with numbered sound only, over a path with this loss.
  private static func call(
    red: Bool = true, startKbps: Int = 1500, loss: Double = 0, for duration: Duration = .seconds(8)
  ) -> Call {
    var configuration = RTPSenderConfiguration()
    configuration.startBitrateKbps = startKbps
    configuration.maximumBitrateKbps = startKbps
    var call = Call(
      rig: Rig(configuration: configuration, redPayloadType: red ? redPayloadType : nil),
      link: Bottleneck(bitsPerSecond: 5_000_000))
    call.link.loss = loss
    call.run(for: duration)
    return call
  }

  private static func copies(_ packet: RTPPacket) throws -> [RedundantAudio.Block] {
    guard packet.header.payloadType == redPayloadType else { return [] }
    return try RedundantAudio(parsing: packet.payload).redundant
  }

  @Test func oneCopyIsAlwaysSent() throws {
    let sound = Self.call().rig.audio
    #expect(try Self.copies(sound[0]).isEmpty, "there is nothing to repeat yet")
    for (before, packet) in zip(sound, sound.dropFirst()) {
      let copy = try #require(try Self.copies(packet).first)
      #expect(try Self.copies(packet).count == 1)
      #expect(packet.header.timestamp &- UInt32(copy.timestampOffset) == before.header.timestamp)
      #expect(copy.payloadType == 111)
    }
  }

  @Test func aboveFivePercentLossTwoAreSent() throws {
    let last = try #require(Self.call(loss: 0.12).rig.audio.last)
    #expect(try Self.copies(last).map(\.timestampOffset) == [1920, 960])
  }

  @Test func aNarrowPathHasNoRoomForCopies() throws {
    let sound = Self.call(startKbps: 250, loss: 0.12).rig.audio
    #expect(sound.allSatisfy { $0.header.payloadType == 111 })
  }

  @Test func whoDoesNotAcceptCopiesGetsNone() {
    #expect(Self.call(red: false, loss: 0.12).rig.audio.allSatisfy { $0.header.payloadType == 111 })
  }

  @Test func nothingIsRepeatedAfterAPause() throws {
    var rig = Rig(redPayloadType: Self.redPayloadType)
    rig.sendAudio(at: .milliseconds(0))
    rig.drain(at: .milliseconds(0))
    rig.sendAudio(at: .milliseconds(5000))
    rig.drain(at: .milliseconds(5000))
    #expect(rig.audio.map(\.header.payloadType) == [111, 111])
  }

  @Test func nothingIsRepeatedThatDoesNotFit() throws {
    var rig = Rig(redPayloadType: Self.redPayloadType)
    for time in [0, 20, 40] {
      // RFC 2198 section 3: a block's length has 10 bits.
      rig.sendAudio(size: time == 0 ? 1100 : 80, at: .milliseconds(time))
      rig.drain(at: .milliseconds(time))
    }
    #expect(rig.audio[1].header.payloadType == 111)
    #expect(try Self.copies(rig.audio[2]).map(\.timestampOffset) == [960])
  }
}
