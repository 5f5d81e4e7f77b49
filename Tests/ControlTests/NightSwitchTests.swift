import Control
import Testing
import Wire

/// A room whose light, lamp and noise make the brightness of a picture.
private struct Room {
  var night: NightSwitch
  /// Seconds since the origin.
  var time = 0.0
  /// Brightness of the picture by the light of the room alone.
  var daylight = 0.5
  /// What the lamp adds.
  var lamp = 0.4
  /// The lamp takes this long to be seen: the camera's exposure follows.
  var delay = 2.0
  /// The picture's noise, evenly distributed within.
  var noise = 0.0
  var isLampThere = true
  var interval = 1.0
  /// When the night began or ended, in seconds.
  var changes: [Double] = []
  private var litSince: Double?
  private var random = SystemRandom(seed: 7)

  init(_ night: NightSwitch = NightSwitch()) { self.night = night }

  /// A second's measurements, up to `seconds` from now. `light` is asked for each.
  mutating func pass(_ seconds: Double, light: (Double) -> Double? = { _ in nil }) {
    let end = time + seconds
    let began = time
    while time < end {
      time += interval
      daylight = light(time - began) ?? daylight
      let isLit = night.isNight && isLampThere
      litSince = isLit ? litSince ?? time : nil
      var brightness = daylight
      if let litSince { brightness += lamp * min(1, (time - litSince) / delay) }
      brightness += noise * (random.unit() - 0.5) * 2
      if night.observe(brightness: brightness, isLampLit: isLit, now: at(time)) { changes.append(time) }
    }
  }
}

private struct SystemRandom {
  var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func unit() -> Double {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Double(state >> 11) * 0x1p-53
  }
}

@Suite struct NightSwitchTests {
  @Test func aLitRoomStaysDay() {
    var room = Room()
    room.pass(3600)
    #expect(room.changes.isEmpty && !room.night.isNight)
  }

  @Test func nightBeginsTenSecondsAfterTheLightIsOut() {
    var room = Room()
    room.pass(100)
    room.daylight = 0.02
    room.pass(60)
    #expect(room.night.isNight)
    #expect(room.changes.count == 1 && abs(room.changes[0] - 111) <= 1)
  }

  @Test func aChildThatStartsInTheDarkNeedsNoMinute() {
    var room = Room()
    room.daylight = 0.01
    room.pass(12)
    #expect(room.night.isNight)
  }

  /// However bright the lamp makes the picture: it is not the day.
  @Test(arguments: [0.0, 0.1, 0.25, 0.4, 0.6, 0.8, 0.95]) func theLampDoesNotEndTheNight(lamp: Double) {
    var room = Room()
    room.daylight = 0.03
    room.lamp = lamp
    room.noise = 0.02
    room.pass(8 * 3600)
    #expect(room.changes.count == 1 && room.night.isNight)
  }

  @Test(arguments: [0.1, 0.4, 0.6]) func theMorningEndsIt(lamp: Double) {
    var room = Room()
    room.daylight = 0.02
    room.lamp = lamp
    room.pass(3600)
    // Dawn takes half an hour.
    room.pass(1800) { 0.02 + 0.5 * $0 / 1800 }
    room.pass(600)
    #expect(!room.night.isNight && room.changes.count == 2)
    // The lamp's share is gone, and the day is bright enough without it.
    room.pass(3600)
    #expect(room.changes.count == 2)
  }

  @Test func duskWithNoiseAroundTheLimitChangesOnce() {
    var room = Room()
    room.noise = 0.04
    // From bright to dark in an hour: some measurements are below the limit for minutes before the mean is.
    room.pass(3600) { 0.3 - 0.28 * $0 / 3600 }
    room.pass(600)
    #expect(room.changes.count == 1 && room.night.isNight)
  }

  /// A light that stays at the limit is the worst case. Nothing asks for a change at both sides.
  @Test(arguments: [0.08, 0.09, 0.10, 0.11, 0.12]) func aRoomAtTheLimitDoesNotFlap(light: Double) {
    var room = Room()
    room.daylight = light
    room.noise = 0.05
    room.pass(6 * 3600)
    #expect(room.changes.count <= 1)
  }

  @Test func aDoorOpenedForTwentySecondsChangesNothing() {
    var room = Room()
    room.daylight = 0.02
    room.pass(600)
    for _ in 0..<20 {
      room.daylight = 0.6
      room.pass(20)
      room.daylight = 0.02
      room.pass(40)
    }
    #expect(room.changes.count == 1 && room.night.isNight)
  }

  @Test func headlightsChangeNothing() {
    var room = Room()
    room.daylight = 0.03
    room.pass(300)
    room.pass(3600) { $0.truncatingRemainder(dividingBy: 45) < 5 ? 0.9 : 0.03 }
    #expect(room.changes.count == 1)
  }

  @Test func aHandBeforeTheLensIsNoNight() {
    var room = Room()
    for _ in 0..<30 {
      room.daylight = 0.5
      room.pass(30)
      room.daylight = 0.0
      room.pass(8)
    }
    #expect(room.changes.isEmpty)
  }

  /// The light is switched on and off every 35 seconds, which is enough to ask for the change each time.
  @Test func whateverHappensChangesAreAMinuteApart() {
    var room = Room()
    room.pass(4 * 3600) { $0.truncatingRemainder(dividingBy: 75) < 40 ? 0.9 : 0.01 }
    let gaps = zip(room.changes.dropFirst(), room.changes).map { $0 - $1 }
    #expect(room.changes.count > 10)
    #expect(gaps.allSatisfy { $0 >= 60 }, "\(gaps.min() ?? 0)")
  }

  @Test func seededRoomsNeverChangeTwiceInAMinute() {
    for seed in 1...50 as ClosedRange<UInt64> {
      var random = SystemRandom(seed: seed)
      var room = Room()
      room.noise = 0.1 * random.unit()
      room.lamp = random.unit()
      room.delay = 10 * random.unit()
      for _ in 0..<100 {
        room.daylight = random.unit() * random.unit()
        room.isLampThere = random.unit() < 0.9
        room.pass(120 * random.unit())
      }
      #expect(zip(room.changes.dropFirst(), room.changes).allSatisfy { $0 - $1 >= 60 }, "seed \(seed)")
    }
  }

  @Test func aBrokenLampStillHasANightAndADay() {
    var room = Room()
    room.lamp = 0
    room.daylight = 0.02
    room.pass(3600)
    #expect(room.changes.count == 1)
    room.daylight = 0.4
    room.pass(60)
    #expect(room.changes.count == 2 && !room.night.isNight)
  }

  /// Plugged in at two o'clock: a bright picture, and still night.
  @Test func aLampThatComesBackAtNightIsNotTheMorning() {
    var room = Room()
    room.isLampThere = false
    room.daylight = 0.02
    room.pass(3600)
    room.isLampThere = true
    room.lamp = 0.6
    room.pass(3600)
    #expect(room.changes.count == 1 && room.night.isNight)
    room.isLampThere = false
    room.pass(600)
    room.daylight = 0.4
    room.pass(120)
    #expect(!room.night.isNight, "what the lamp gave no longer counts")
  }

  /// Somebody shines with a telephone just when the lamp is learned.
  @Test func aBrightMomentWhileLearningIsForgotten() {
    var room = Room()
    room.daylight = 0.02
    room.pass(12)
    #expect(room.night.isNight)
    room.daylight = 0.5
    room.pass(14)
    room.daylight = 0.02
    room.pass(2 * 3600)
    room.daylight = 0.35
    room.pass(120)
    #expect(!room.night.isNight)
  }

  /// For five minutes a parent stands before the lamp.
  @Test func aShadowForSomeMinutesIsNoReasonToSeeTheDayAfterwards() {
    var room = Room()
    room.daylight = 0.02
    room.pass(600)
    room.lamp = 0.02
    room.pass(300)
    room.lamp = 0.4
    room.pass(3600)
    #expect(room.changes.count == 1)
  }

  @Test func withoutPicturesNothingLasts() {
    var room = Room()
    room.pass(10)
    // An hour without a camera: the first dark picture afterwards is the first.
    let found = [20.0, 3620, 3629, 3630].map { time in
      room.night.observe(brightness: 0, isLampLit: false, now: at(time))
    }
    #expect(found == [false, false, false, true])
  }

  @Test func measurementsEveryFiveSecondsAreEnough() {
    var room = Room()
    room.interval = 5
    room.daylight = 0.02
    room.pass(3600)
    #expect(room.changes.count == 1 && room.night.isNight)
    room.daylight = 0.5
    room.pass(60)
    #expect(room.changes.count == 2)
  }

  @Test func impossibleMeasurementsAreHarmless() {
    var night = NightSwitch()
    let values = [Double.nan, .infinity, -.infinity, -1e300, 1e300, .nan]
    let found = values.enumerated().map { number, value in
      night.observe(brightness: value, isLampLit: true, now: at(Double(number)))
    }
    #expect(!found.contains(true))
    // Time that goes back, too.
    let later = [100.0, 5].map { night.observe(brightness: 0, isLampLit: false, now: at($0)) }
    #expect(!later.contains(true))
  }
}
