import Testing

@testable import Child

@Suite struct RateAllocationTests {
  private func allocation(_ estimates: [Int]) -> RateAllocation {
    RateAllocation(estimatesKbps: estimates, range: 150...2500, startKbps: 1500)
  }

  @Test func startsWithinTheConfiguredRange() {
    #expect(allocation([]).encoderKbps == 1500)
    #expect(RateAllocation(estimatesKbps: [], range: 150...800, startKbps: 1500).encoderKbps == 800)
  }

  @Test func leavesRoomForSoundAndHeaders() {
    #expect(allocation([1500]).encoderKbps == 1404)
    #expect(allocation([200]).encoderKbps == 160)
    #expect(allocation([100]).encoderKbps == 150)
    #expect(allocation([9000]).encoderKbps == 2500)
  }

  @Test func aMuchSlowerViewerDoesNotMakeThePictureWorseForTheOthers() {
    let mixed = allocation([2000, 400])
    #expect(mixed.encoderKbps == 1904)
    #expect(!mixed.takesAllLayers(estimateKbps: 400))
    #expect(mixed.takesAllLayers(estimateKbps: 2000))
    #expect(mixed.takesAllLayers(estimateKbps: nil))
  }

  @Test func viewersOfSimilarPathsShareTheSlowerOne() {
    let similar = allocation([2000, 1200])
    #expect(similar.encoderKbps == 1104)
    #expect(similar.takesAllLayers(estimateKbps: 1200))
  }
}

@Suite struct ControlMessageTests {
  @Test func readsCommandsAndRefusesWhatIsNone() {
    let ping = ControlMessages.parse(#"{"id":"7","text":"ping"}"#)
    #expect(ping?.id == "7" && ping?.text == "ping")
    #expect(ControlMessages.parse(#"{"text":"ping","parameters":{"a":[1,{"b":null}]}}"#)?.text == "ping")
    for bad in ["", "ping", "[]", "{}", #"{"id":7,"text":"ping"}"#, #"{"id":"7","text":3}"#] {
      #expect(ControlMessages.parse(bad) == nil)
    }
    let long = #"{"text":"\#(String(repeating: "x", count: ControlMessages.mostBytes))"}"#
    #expect(ControlMessages.parse(long) == nil)
    let nested = String(repeating: "[", count: 8000)
    #expect(ControlMessages.parse(#"{"text":"x","parameters":\#(nested)}"#) == nil)
  }

  @Test func writesRepliesAsTheInterfaceSays() {
    struct Time: Encodable { var time = 1.5 }
    #expect(
      ControlMessages.encode(id: "c1", inReplyTo: "7", text: "ok", parameters: Time())
        == #"{"id":"c1","inReplyTo":"7","parameters":{"time":1.5},"text":"ok"}"#)
    #expect(
      ControlMessages.encodeError(id: "c2", inReplyTo: nil, .badMessage, "no")
        == #"{"id":"c2","parameters":{"code":"bad-message","message":"no"},"text":"error"}"#)
  }
}

@Suite struct MetricsTests {
  @Test func labelsAreEscaped() {
    var status = StatusReport(
      name: "N", id: "0011223344556677", version: "1", uptimeSeconds: 1, port: 1, mediaPort: 2, cameras: [],
      microphone: .init(
        device: "test", state: "running", detail: "", captured: 1, encoded: 1, levelDb: -20),
      viewers: [], alarms: [])
    #expect(MetricsText.make(status).contains("cradle_viewers 0.0\n"))
    status.viewers = [
      .init(
        name: "a\"b\\c\n", state: "connected", permissions: [], seconds: 1, candidatePair: nil, roundTripMs: nil,
        bytesSent: 5, packetsSent: 1, packetsRetransmitted: 0, fractionLost: nil, availableOutgoingKbps: 1)
    ]
    #expect(MetricsText.make(status).contains(#"cradle_viewer_bytes_sent_total{viewer="a\"b\\c\n",number="0"} 5.0"#))
  }
}
