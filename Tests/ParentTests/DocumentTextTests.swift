import Commands
import Control
import Linux
import Testing

@testable import Parent

@Suite struct DocumentTextTests {
  @Test func aLightSaysHowItShinesAndForHowLong() {
    var light = LightDocument(id: "lamp", state: .on, brightness: 60, dimmable: true, remainingSeconds: 598)
    #expect(light.text == "lamp is on at 60 %, turns off in 9:58")
    light.dimmable = false
    light.remainingSeconds = nil
    #expect(light.text == "lamp is on")
    light.state = .off
    #expect(light.text == "lamp is off")
    light.state = .missing
    #expect(light.text == "lamp is missing")
  }

  @Test func aLullabySaysWhatPlaysAndWhenItEnds() {
    var lullaby = LullabyDocument(
      state: .playing, track: "heartbeat", volume: 40, loop: true, positionSeconds: 62.4, remainingSeconds: 3723)
    #expect(lullaby.text == "heartbeat plays at 40 %, at 1:02, over and over, ends in 1:02:03")
    lullaby.state = .stopped
    #expect(lullaby.text == "no lullaby plays (volume 40 %)")
  }

  @Test func rowsHaveACellForEverything() {
    let camera = CameraDocument(id: "cot", name: "USB", active: true, width: 1280, height: 720, state: .running)
    #expect(camera.row == ["*", "cot", "running", "1280x720", "USB"])
    #expect(TrackDocument(id: "white-noise", title: "White noise").row == ["white-noise", "White noise", "endless"])
  }

  @Test func theNightIsSaidAndTheDayIsNot() {
    func text(night: Bool?, infrared: LightDocument.State?) -> String {
      let camera = CameraDocument(
        id: "cot", name: "USB", active: false, state: .running, night: night, infrared: infrared)
      return StatusDocument(
        name: "N", id: "1", version: "1", time: 0, uptimeSeconds: 0, alarms: [], state: StateDocument(cameras: [camera])
      ).rows[1][1]
    }
    #expect(text(night: true, infrared: .on) == "cot: running, USB, night, infrared lamp on")
    #expect(text(night: true, infrared: nil) == "cot: running, USB, night")
    #expect(text(night: false, infrared: .off) == "cot: running, USB")
    #expect(text(night: false, infrared: .missing) == "cot: running, USB, infrared lamp missing")
    // An older child.
    #expect(text(night: nil, infrared: nil) == "cot: running, USB")
  }

  @Test func aTimeThatNoCalendarHoldsIsShownAllTheSame() {
    for time in [Double.infinity, -.infinity, .nan, 1e300] { #expect(!LocalTime.text(unixSeconds: time).isEmpty) }
    #expect(LocalTime.compact(unixSeconds: 0).count == 15)
  }
}

@Suite struct TimeSpanTests {
  @Test(arguments: [
    ("90s", 90), ("45s", 45), ("10m", 600), ("8h", 28_800), ("2d", 172_800), ("1h30m", 5400), ("0", 0),
    ("1d1s", 86_401),
    ("-5s", -5), ("-1h30m", -5400),
  ])
  func lengthsOfTimeAreRead(text: String, seconds: Int) {
    #expect(TimeSpan(text)?.seconds == seconds)
  }

  @Test(arguments: [
    "", "m", "-", "-m", "8", "90", "-5", "00", "--5", "5-", "1h30", "5x", "1m1h", "1s1s", "1.5h",
    "99999999999999999999",
    "9223372036854775807d", "10 m",
  ])
  func everythingElseIsNone(text: String) {
    #expect(TimeSpan(text) == nil)
  }
}
