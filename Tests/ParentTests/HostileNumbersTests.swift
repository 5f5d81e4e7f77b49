import Control
import Linux
import Testing
import Wire

@testable import Parent

/// A child may say any number. Nothing that shows it to a person may end the program.
@Suite struct HostileNumbersTests {
  /// The last one is in the last year that C's calendar can name.
  static let numbers = [
    1e300, -1e300, .greatestFiniteMagnitude, .nan, .infinity, -.infinity, 9.3e18, -9.3e18, 6.7768036191676e16,
    .leastNonzeroMagnitude,
  ]

  @Test(arguments: numbers)
  func everyFormatterTakesAnyNumber(number: Double) {
    let lullaby = LullabyDocument(
      state: .playing, track: "a", volume: .min, positionSeconds: number, remainingSeconds: .max)
    let light = LightDocument(id: "a", state: .on, brightness: .max, dimmable: true, remainingSeconds: .min)
    let camera = CameraDocument(id: "a", name: "b", active: true, width: .min, height: .max, state: .running)
    let state = StateDocument(
      lights: [light], lullaby: lullaby, cameras: [camera],
      viewers: [ViewerDocument(id: "1", name: "b", permissions: [], since: number)])
    let event = EventDocument(sequence: .max, kind: "light", time: number)
    let status = StatusDocument(
      name: "a", id: "b", version: "1", time: number, uptimeSeconds: number, alarms: [], state: state)
    let shown = [
      ElapsedTime.text(number), LocalTime.text(unixSeconds: number), LocalTime.compact(unixSeconds: number),
      lullaby.text,
      light.text, event.text, camera.row.joined(), TrackDocument(id: "a", title: "b", seconds: number).row.joined(),
      status.rows.joined().joined(), "\(ParentDoctor.finding(clockAhead: number))",
    ]
    #expect(shown.allSatisfy { !$0.isEmpty })
    #expect(JSONLine.text(status).contains(#""name":"a""#))
  }

  @Test(arguments: numbers)
  func theLinksFiguresTakeAnyClock(number: Double) {
    let pings = [LinkFigures.Ping(roundTripMs: 2, clockAheadMs: number)]
    let figures = LinkFigures(seconds: 1, pings: pings, unanswered: 0, watched: nil)
    let quality = LinkQuality(figures, wantsPicture: false, wantsSound: false)
    #expect(quality.findings.count == 2)
    #expect(JSONLine.text(figures).contains(#""pings":1"#))
  }
}
