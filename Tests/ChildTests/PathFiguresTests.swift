import Control
import RTPSending
import Testing
import Wire

@testable import Child

/// What `status` and `/metrics` tell of the path to each viewer.
@Suite struct PathFiguresTests {
  private static let path = PathDocument(
    estimateKbps: 2100, targetKbps: 800, queueMs: 125, probesSent: 4, probesSucceeded: 3, roundTripMs: 12.3,
    lossPercent: 1.25, soundCopies: 1, isCongested: true)

  private static func viewer(_ path: PathDocument?) -> StatusReport.Viewer {
    StatusReport.Viewer(
      name: "Bed\"side", state: "connected", permissions: ["view"], seconds: 1, bytesSent: 0, packetsSent: 0,
      packetsRetransmitted: 0, availableOutgoingKbps: 800, path: path)
  }

  private static func report(_ viewers: [StatusReport.Viewer]) -> StatusReport {
    StatusReport(
      name: "Cot", id: "0123456789abcdef", version: "1", uptimeSeconds: 1, port: 8443, mediaPort: 1, cameras: [],
      microphone: .init(device: "none", state: "off", detail: "", captured: 0, encoded: 0, levelDb: -100),
      viewers: viewers, datagrams: .init(lost: 0, ignored: 0), notifiers: nil, alarms: [])
  }

  @Test func oneLineTellsWhatIsKnown() {
    #expect(
      Self.viewer(Self.path).pathText
        == "carries 2100 kbit/s (800 now), queue 125 ms, round trip 12 ms, 1.3 % lost, probes 3 of 4, "
        + "sound sent 2 times, congested")
  }

  @Test func whatIsNotKnownIsLeftOut() {
    var path = Self.path
    path.targetKbps = 2100
    path.queueMs = nil
    path.roundTripMs = nil
    path.soundCopies = 0
    path.isCongested = false
    #expect(Self.viewer(path).pathText == "carries 2100 kbit/s, 1.3 % lost, probes 3 of 4")
    #expect(Self.viewer(nil).pathText == nil)
  }

  @Test func metricsAreInBaseUnitsAndOnlyOfViewersWhosePathIsKnown() {
    let text = MetricsText.make(Self.report([Self.viewer(nil), Self.viewer(Self.path)]))
    let labels = "{viewer=\"Bed\\\"side\",number=\"1\"}"
    for line in [
      "viewer_estimate_kbps\(labels) 2100.0", "viewer_target_kbps\(labels) 800.0",
      "viewer_queue_seconds\(labels) 0.125",
      "viewer_loss_ratio\(labels) 0.0125", "viewer_probes_total\(labels) 4.0",
      "viewer_probes_succeeded_total\(labels) 3.0", "viewer_sound_copies\(labels) 1.0", "viewer_congested\(labels) 1.0",
    ] {
      #expect(text.contains("\ncradle_\(line)\n"), "\(line)")
    }
    #expect(!text.contains("cradle_viewer_estimate_kbps{viewer=\"Bed\\\"side\",number=\"0\"}"))
    #expect(text.contains("# TYPE cradle_viewer_probes_total counter\n"))
  }

  @Test func figuresAreTakenInTheUnitsThatTheyAreToldIn() {
    let told = PathDocument(
      RTPPathStatistics(
        estimate: 1_234_567, target: 999_999, standingQueue: .microseconds(2340), probesSent: 2, probesSucceeded: 1,
        roundTripTime: .microseconds(15_678), fractionLost: 0.01234, soundCopies: 2, isCongested: false
      ))
    #expect(
      told
        == PathDocument(
          estimateKbps: 1234, targetKbps: 999, queueMs: 2.34, probesSent: 2, probesSucceeded: 1, roundTripMs: 15.68,
          lossPercent: 1.23, soundCopies: 2, isCongested: false))
  }
}
