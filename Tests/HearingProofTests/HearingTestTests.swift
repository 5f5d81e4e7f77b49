import HearingProof
import Testing
import Wire

struct HearingTestTests {
  private let start = Instant(nanoseconds: 1_000_000_000)
  private let mum = HearingTest.Listener(id: "1", name: "Mum")
  private let dad = HearingTest.Listener(id: "2", name: "Dad")

  /// Runs the time until the next action.
  private func next(_ test: inout HearingTest, _ now: inout Instant, _ listeners: [String]) -> HearingTest.Action? {
    for _ in 0..<1000 {
      now += .milliseconds(100)
      if let action = test.handleTimeout(now: now, listeners: listeners) { return action }
    }
    return nil
  }

  @Test func itBecomesLouderUntilAllHaveHeardIt() {
    var now = start
    var test = HearingTest(number: 1, way: .chirp, now: now)
    #expect(next(&test, &now, ["1", "2"]) == .play(levelDb: -58))
    test.microphoneHeard(share: 0.1)
    test.heard(by: mum, now: now + .milliseconds(500))
    #expect(next(&test, &now, ["1", "2"]) == .play(levelDb: -52))
    #expect(test.unanswered(by: [mum, dad, dad]) == ["Dad"])
    test.heard(by: dad, now: now)
    #expect(next(&test, &now, ["1", "2"]) == .finish)
    #expect(test.unanswered(by: [mum, dad]).isEmpty)
    #expect(test.isHeard && test.heardBy.map(\.name) == ["Mum", "Dad"])
  }

  /// As loud as the noise is loud enough: 10 dB above it is the bound.
  @Test func itDoesNotBecomeLouderThanTheRoomAllows() {
    var now = start
    var test = HearingTest(number: 1, way: .chirp, now: now)
    #expect(next(&test, &now, ["1"]) == .play(levelDb: -58))
    test.microphoneHeard(share: 0.6)
    #expect(next(&test, &now, ["1"]) == .play(levelDb: -58))
  }

  @Test func whatNobodyHeardEndsAndIsNotHeard() {
    var now = start
    var test = HearingTest(number: 1, way: .chirp, now: now)
    var levels: [Double] = []
    while case .play(let level) = next(&test, &now, ["1"]) { levels.append(level) }
    #expect(levels == [-58, -52, -46, -40, -40])
    #expect(!test.isHeard && now - start <= HearingTest.longest)
  }

  /// A parent alone proves nothing: it might lie, or hear something else.
  @Test func aParentThatHearsWhatWasNotPlayedDoesNotCount() {
    var now = start
    var test = HearingTest(number: 1, way: .chirp, now: now)
    test.heard(by: mum, now: now)
    test.microphoneHeard(share: 1)
    #expect(test.heardBy.isEmpty && test.microphoneShare == nil)
    _ = next(&test, &now, ["1"])
    // It has only just begun.
    test.heard(by: mum, now: now + .milliseconds(400))
    #expect(test.heardBy.isEmpty)
    test.heard(by: mum, now: now + .milliseconds(500))
    #expect(test.heardBy == [mum] && !test.isHeard)
  }

  @Test func withoutASpeakerTheNoiseOfTheRoomIsCompared() {
    var now = start
    var test = HearingTest(number: 1, way: .noiseFloor, now: now)
    test.measured(.init(levelDb: -70, isAlive: true))
    test.received(.init(levelDb: -50, isAlive: true), by: mum)
    test.received(.init(levelDb: -72, isAlive: false), by: mum)
    #expect(!test.isHeard)
    test.received(.init(levelDb: -72, isAlive: true), by: dad)
    #expect(test.isHeard)
    #expect(next(&test, &now, ["2"]) == .finish)
  }

  @Test func aRepeatedBufferIsNoRoom() throws {
    var floor = NoiseFloor()
    floor.add(Array(repeating: Array(0..<4800).map { Int16($0 % 7) }, count: 12).joined())
    let figures = try #require(floor.figures { $0 })
    #expect(!figures.isAlive)
    var zeros = NoiseFloor()
    zeros.add([Int16](repeating: 0, count: 96_000))
    #expect(zeros.figures { $0 }?.isAlive == false)
  }
}
