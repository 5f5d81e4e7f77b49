import TestSupport
import Testing
import Wire

@testable import SCTP

private func chunks(_ name: String) throws -> [Chunk] {
  try Packet(Fixture.bytes(name)).chunks.map { try Chunk($0) }
}

@Suite struct FixtureTests {
  @Test func initOfFirefoxTellsItsExtensions() throws {
    guard case .initiation(let chunk) = try chunks("sctp-init-firefox.bin").first else {
      Issue.record("no INIT")
      return
    }
    #expect(chunk.tag == 0x8fb5_9c4e && chunk.initialTSN == 0x1f6e_753d)
    #expect(chunk.outboundStreams == 65535 && chunk.inboundStreams == 65535 && chunk.advertisedWindow == 0x0100_0000)
    // It offers interleaving, too, which is not ours.
    #expect(chunk.supportsForwardTSN && chunk.supportsReconfiguration && chunk.unrecognized.isEmpty)
  }

  @Test func initOfGStreamerMayNameWhatWeLack() throws {
    guard case .initiation(let chunk) = try chunks("sctp-init-gstreamer.bin").first else {
      Issue.record("no INIT")
      return
    }
    // usrsctp adds the parameters of RFC 4895, which ask to be skipped in silence.
    #expect(chunk.supportsForwardTSN && chunk.supportsReconfiguration && chunk.unrecognized.isEmpty)
    #expect(chunk.outboundStreams == 1024 && chunk.inboundStreams == 2048)
  }

  @Test func initAckOfChromiumCarriesItsCookie() throws {
    guard case .initiationAck(let chunk) = try chunks("sctp-init-ack-chromium.bin").first else {
      Issue.record("no INIT ACK")
      return
    }
    #expect(chunk.cookie?.prefix(8) == Array("dcSCTP00".utf8)[...])
    #expect(chunk.supportsForwardTSN && chunk.supportsReconfiguration)
  }

  @Test func initWithTagIsDropped() throws {
    // RFC 9260 section 8.5.1 rule A; seen where both ends sent INIT at once.
    var transport = DataChannelTransport(
      configuration: SCTPConfiguration(), isDTLSClient: true, hashes: TestHashes(), random: SeededGenerator(seed: 1))
    transport.handle(packet: Fixture.bytes("sctp-init-with-tag-aiortc.bin"), now: .zero)
    #expect(transport.poll() == nil)
    transport.handle(packet: Fixture.bytes("sctp-init-firefox.bin"), now: .zero)
    guard case .transmit(let answer) = transport.poll() else {
      Issue.record("no answer")
      return
    }
    #expect(try Packet(answer).verificationTag == 0x8fb5_9c4e)
  }

  @Test func openOfChromiumIsUnderstood() throws {
    guard case .data(let chunk) = try chunks("sctp-dcep-open-chromium.bin").first else {
      Issue.record("no DATA")
      return
    }
    #expect(chunk.payloadProtocolID == PayloadProtocolID.dcep && chunk.streamID == 1)
    #expect(chunk.flags.isSuperset(of: [.beginning, .end]))
    #expect(try DCEPMessage(Array(chunk.payload)) == .open(DataChannelParameters(label: "second")))
  }

  @Test func forwardTSNOfChromiumNamesItsStream() throws {
    guard case .forwardTSN(let chunk) = try chunks("sctp-forward-tsn-chromium.bin").first else {
      Issue.record("no FORWARD TSN")
      return
    }
    #expect(
      chunk == ForwardTSNChunk(newCumulativeTSN: 0x2d8f_436b, skips: [.init(streamID: 5, streamSequenceNumber: 66)]))
  }

  @Test func resetOfChromiumNamesItsStream() throws {
    guard case .reconfiguration(let parameters) = try chunks("sctp-re-config-chromium.bin").first,
      case .outgoingReset(let request) = parameters.first
    else {
      Issue.record("no reset")
      return
    }
    #expect(request.streamIDs == [1] && request.lastTSN == 0x2d8f_4743 && request.sequence == 0x2d8f_40e4)
  }

  @Test func sackWithGapsIsRead() throws {
    guard case .sack(let sack) = try chunks("sctp-sack-with-gaps-aiortc.bin").first else {
      Issue.record("no SACK")
      return
    }
    #expect(sack.gaps == [.init(start: 3, end: 3)])
    #expect(sack.cumulativeTSN == 0xe2a1_1d04 && sack.advertisedWindow == 0x10_0000)
  }

  @Test func abortOfChromiumGivesItsReason() throws {
    guard case .abort(let causes, let reflected) = try chunks("sctp-abort-chromium.bin").first else {
      Issue.record("no ABORT")
      return
    }
    #expect(!reflected && causes.map(\.description) == ["user-initiated abort: Close called"])
  }
}
