import Testing
import Wire

@testable import Control

/// WCAG 2.3.1: no more than three flashes, of two opposing changes each, in any one second.
@Suite struct LightFlashLimitTests {
  private var lamp = LightController(id: "nightlight", isDimmable: true)

  /// The most changes that any second has seen.
  private func densest(_ changes: [Instant]) -> Int {
    changes.map { first in changes.count { $0 >= first && $0 < first + .seconds(1) } }.max() ?? 0
  }

  /// Runs `order` every `milliseconds`, and the light by its deadlines in between.
  private mutating func changes(
    every milliseconds: Int, _ order: (inout LightController, Int, Instant) throws -> Void
  ) rethrows -> (times: [Instant], last: Int?) {
    var times: [Instant] = []
    var last: Int?
    for number in 0..<200 {
      let now = Instant.zero + .milliseconds(1000 + number * milliseconds)
      while let deadline = lamp.nextDeadline, deadline < now {
        lamp.handleTimeout(now: deadline)
        for level in lamp.drain() { (times, last) = (times + [deadline], level) }
      }
      try order(&lamp, number, now)
      for level in lamp.drain() { (times, last) = (times + [now], level) }
    }
    while let deadline = lamp.nextDeadline {
      lamp.handleTimeout(now: deadline)
      for level in lamp.drain() { (times, last) = (times + [deadline], level) }
    }
    return (times, last)
  }

  @Test(arguments: [1, 20, 90, 166]) mutating func switchingFasterDoesNotFlashFaster(milliseconds: Int) throws {
    let seen = try changes(every: milliseconds) { lamp, _, now in
      try lamp.set(LightSet(state: .toggle), now: now)
    }
    #expect(densest(seen.times) == 6)
    #expect(seen.last == 0, "an even number of orders leaves it dark")
  }

  @Test mutating func neitherDoDimmingAndFlashPatternsInTurns() throws {
    let seen = try changes(every: 45) { lamp, number, now in
      switch number % 3 {
      case 0: try lamp.flash(LightFlash(times: 3, milliseconds: 200), now: now)
      case 1: try lamp.set(LightSet(state: .on, brightness: 1 + number % 100), now: now)
      default: try lamp.set(LightSet(state: .off), now: now)
      }
    }
    #expect(densest(seen.times) <= 6)
  }

  @Test mutating func theFastestPatternIsNotHeldBack() throws {
    _ = lamp.drain()
    try lamp.flash(LightFlash(times: 10, milliseconds: 200), now: at(5))
    let first = lamp.drain()
    let seen = lamp.run(to: at(60))
    #expect(first == [20] && seen.count == 19)
    #expect(seen.last.map { abs($0.seconds - 8.8) < 0.001 } == true)
  }

  @Test mutating func whatIsHeldBackIsTheLatestLevelAndComesSoon() throws {
    _ = lamp.drain()
    for level in 1...20 { try lamp.set(LightSet(state: .on, brightness: level), now: at(10)); _ = lamp.drain() }
    #expect(lamp.state.document(now: at(10)).brightness == 20)
    let seen = lamp.run(to: at(20))
    #expect(seen.map(\.effect) == [20] && seen.map(\.seconds) == [11])
  }

  @Test mutating func theEndIsNotHeldBack() throws {
    _ = lamp.drain()
    for level in 1...20 {
      try lamp.set(LightSet(state: .on, brightness: level), now: at(10))
      _ = lamp.drain()
    }
    lamp.restore()
    #expect(lamp.drain() == [0])
    #expect(lamp.nextDeadline == nil)
  }

  @Test mutating func aLightThatComesBackAsASwitchIsNotDimmed() throws {
    try lamp.set(LightSet(state: .on, brightness: 30), now: at(0))
    _ = lamp.drain()
    lamp.setPresent(true, isDimmable: false)
    #expect(lamp.drain() == [100])
    #expect(code { try lamp.set(LightSet(state: .on, brightness: 50), now: at(1)) } == .unavailable)
  }
}
