import NightReport
import Testing
import Wire

@Suite struct MinuteRecorderTests {
  /// A room in fake time.
  private struct Room {
    var recorder = MinuteRecorder()
    var unix = 1_795_291_200.0
    var now = Instant.zero
    var captured: UInt64 = 0
    var received: [String: UInt64] = [:]
    var minutes: [MinuteRecord] = []
    var steps: [Double] = []
    var heardSeconds = 0

    /// - Parameters:
    ///   - hearing: whose reports advance by a second's packets.
    mutating func pass(_ seconds: Int, level: Double = -60, delivers: Bool = true, hearing: [String] = []) {
      for _ in 0..<seconds {
        if delivers {
          captured += 50
          for _ in 0..<5 { recorder.note(levelDb: level) }
        }
        for name in hearing { received[name, default: 0] += 50 }
        let listeners = received.map {
          MinuteRecorder.Listener(id: "peer of \($0.key)", name: $0.key, received: $0.value)
        }
        let second = recorder.second(unix: unix, now: now, captured: captured, listeners: listeners)
        minutes += second.minutes
        if second.isHeard { heardSeconds += 1 }
        if let step = second.clockStep { steps.append(step) }
        unix += 1
        now += .seconds(1)
      }
    }
  }

  @Test func aMinuteSaysHowLoudItWasAndWhoHeardIt() throws {
    var room = Room()
    room.pass(1, level: -20)
    room.pass(59, level: -60, hearing: ["Ben", "Ada"])
    room.pass(1)
    let minute = try #require(room.minutes.first)
    #expect(room.minutes.count == 1)
    #expect(minute.minute == 1_795_291_200 / 60 && minute.isDelivered)
    #expect(minute.listeners == ["Ada", "Ben"])
    // The first second's levels came before its minute was known.
    #expect(minute.peak == -600 && minute.mean == -600)
  }

  @Test func theLoudestMomentCounts() {
    var room = Room()
    room.pass(10)
    room.pass(1, level: -12.34)
    room.pass(50)
    #expect(room.minutes.first?.peak == -123)
    #expect(room.minutes.first?.mean.map { (-600)...(-580) ~= $0 } == true)
  }

  /// An open session proves nothing.
  @Test func whoReportsNothingNewHasHeardNothing() {
    var room = Room()
    room.pass(60, hearing: ["Ada"])
    room.pass(120)
    #expect(room.minutes.map(\.listeners) == [["Ada"], []])
    #expect(room.heardSeconds == 60)
  }

  @Test func withoutTheMicrophoneNobodyHearsAnything() {
    var room = Room()
    room.pass(60, hearing: ["Ada"])
    room.pass(61, delivers: false, hearing: ["Ada"])
    #expect(room.minutes.map(\.isDelivered) == [true, false])
    #expect(room.minutes.map(\.listeners) == [["Ada"], []])
    #expect(room.minutes.last?.peak == nil)
  }

  @Test func aMicrophoneThatIsReopenedQuicklyIsNoLoss() {
    var room = Room()
    room.pass(20)
    room.pass(5, delivers: false)
    room.pass(36)
    room.pass(53)
    room.pass(6, delivers: false)
    room.pass(2)
    #expect(room.minutes.map(\.isDelivered) == [true, false])
  }

  @Test func aClockThatIsSetEndsTheMinuteAndIsTold() {
    var room = Room()
    room.pass(30, hearing: ["Ada"])
    room.unix -= 3600
    room.pass(60, hearing: ["Ben"])
    room.unix += 7200
    room.pass(61)
    #expect(room.steps.map { $0.rounded() } == [-3600, 7200])
    let first: Int64 = 1_795_291_200 / 60
    #expect(
      room.minutes.map(\.minute)
        == [first, first - 60, first - 59, first + 61, first + 62].filter { minute in
          room.minutes.contains { $0.minute == minute }
        })
    #expect(room.minutes.first?.listeners == ["Ada"])
  }

  @Test func aClockThatIsSlewedIsNot() {
    var room = Room()
    for _ in 0..<600 {
      room.pass(1)
      room.unix += 0.5
    }
    #expect(room.steps.isEmpty)
  }

  @Test func aCounterThatBeginsAnewIsAnotherSession() {
    var room = Room()
    room.pass(30, hearing: ["Ada"])
    room.received["Ada"] = 0
    room.pass(31, hearing: ["Ada"])
    #expect(room.minutes.first?.listeners == ["Ada"])
  }

  @Test func hostileNumbersAreHarmless() {
    var recorder = MinuteRecorder()
    for unix in [Double.nan, .infinity, -.infinity, 1e300, -1e300, 0] {
      recorder.note(levelDb: unix)
      recorder.note(levelDb: 1e300)
      let listeners = (0..<100).map { MinuteRecorder.Listener(id: "\($0)", name: "\($0)", received: .max) }
      let second = recorder.second(unix: unix, now: .zero, captured: .max, listeners: listeners)
      #expect(second.minutes.allSatisfy { $0.listeners.count <= MinuteRecorder.maximumListeners })
    }
    #expect(recorder.finish() != nil)
  }
}

@Suite struct UnheardWatchTests {
  @Test func itIsSaidOnceForEachSpell() {
    var watch = UnheardWatch(limit: .seconds(300), now: .zero)
    var said: [UnheardWatch.Change] = []
    for second in 1...2000 {
      let isHeard = (400..<500).contains(second) || second == 900
      if let change = watch.note(isHeard: isHeard, now: .zero + .seconds(second)) { said.append(change) }
    }
    #expect(
      said == [
        .unheard(.seconds(300)), .heardAgain(.seconds(400)), .unheard(.seconds(300)), .heardAgain(.seconds(401)),
        .unheard(.seconds(300)),
      ])
  }

  @Test func whoDidNotAskIsNotTold() {
    var watch = UnheardWatch(limit: nil, now: .zero)
    #expect(watch.note(isHeard: false, now: .zero + .seconds(1_000_000)) == nil)
  }
}
