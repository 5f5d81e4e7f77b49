import TestSupport
import Testing
import Wire

@testable import Parent

@Suite struct LineRaceTests {
  /// A race in fake time, and what it has asked for.
  private struct Course {
    var race: LineRace
    var now = Instant.zero
    var actions: [LineRace.Action] = []

    init(places: Int, demoted: Set<Int> = []) {
      race = LineRace(places: places, demoted: demoted, now: .zero)
      actions = race.start(now: now)
    }

    /// Lets time pass, deadline by deadline.
    mutating func pass(_ duration: Duration) {
      let end = now + duration
      while let deadline = race.nextDeadline, deadline <= end {
        now = max(now, deadline)
        let before = race.nextDeadline
        actions += race.handleTimeout(now: now)
        #expect(race.nextDeadline != before, "a deadline that has passed is gone")
        if race.nextDeadline == before { return }
      }
      now = end
    }

    mutating func open(_ line: LineRace.Line) { actions += race.opened(line, now: now) }
    mutating func fail(_ line: LineRace.Line, _ failure: LineRace.Failure) {
      actions += race.failed(line, failure, now: now)
    }

    var end: [String]? {
      for case .giveUp(let said) in actions { return said.map(\.reason) }
      return nil
    }
  }

  @Test func atHomeNoPlaceIsAsked() {
    var course = Course(places: 1)
    course.pass(.milliseconds(200))
    course.open(.own)
    course.race.answered(now: course.now)
    #expect(course.actions == [.open(.own), .use(.own)])
  }

  @Test func aPlaceThatWithholdsMakesWayForOneThatIsSlower() {
    var course = Course(places: 2)
    course.pass(.milliseconds(400))
    course.open(.place(0))
    #expect(course.race.current == .place(0))
    course.pass(.seconds(1))
    course.open(.place(1))
    #expect(course.race.current == .place(0), "it may still answer")
    course.pass(.seconds(2))
    #expect(course.race.current == .place(1))
    #expect(course.actions.suffix(2) == [.close(.place(0)), .use(.place(1))])
  }

  @Test(arguments: [LineRace.Failure.useless("wrong"), .lost("gone"), .absent("not there")])
  func aPlaceThatFailsMakesWayAtOnce(failure: LineRace.Failure) {
    var course = Course(places: 2)
    course.pass(.milliseconds(300))
    course.open(.place(0))
    course.open(.place(1))
    course.fail(.place(0), failure)
    #expect(course.race.current == .place(1))
  }

  @Test func aPlaceThatFailsIsFollowedByOneThatOpensLater() {
    var course = Course(places: 2)
    course.pass(.milliseconds(300))
    course.open(.place(0))
    course.fail(.place(0), .useless("wrong"))
    #expect(course.race.current == nil && course.end == nil)
    course.open(.place(1))
    #expect(course.race.current == .place(1))
  }

  @Test func theOwnAddressStaysInTheRace() {
    var course = Course(places: 1)
    course.pass(.milliseconds(320))
    course.open(.place(0))
    course.open(.own)
    #expect(course.race.current == .place(0))
    course.pass(.seconds(1))
    #expect(course.race.current == .own)
  }

  @Test func afterAnAnswerTheOthersWaitForMediaLonger() {
    var course = Course(places: 1)
    course.pass(.milliseconds(320))
    course.open(.place(0))
    course.open(.own)
    course.race.answered(now: course.now)
    course.pass(.seconds(7))
    #expect(course.race.current == .place(0))
    course.pass(.seconds(1))
    #expect(course.race.current == .own)
  }

  @Test func whereNoPathIsFoundAnotherLineIsUsedIfThereIsOne() {
    var course = Course(places: 1)
    course.pass(.milliseconds(320))
    course.open(.own)
    course.race.answered(now: course.now)
    course.open(.place(0))
    #expect(course.race.withoutMedia("no path", now: course.now) == [.close(.own), .use(.place(0))])
    #expect(course.race.withoutMedia("no path", now: course.now) == nil)
  }

  @Test func aStrangerAtAnOwnAddressIsFollowedByTheOthers() {
    var course = Course(places: 1)
    course.open(.own)
    course.fail(.own, .useless("another child answers there"))
    #expect(course.actions == [.open(.own), .use(.own), .close(.own), .open(.own)])
    course.open(.own)
    #expect(course.race.current == .own)
    course.fail(.own, .useless("another child answers there"))
    course.fail(.own, .useless("no address is left"))
    course.open(.place(0))
    #expect(course.race.current == .place(0))
  }

  @Test func whoHasFailedLatelyComesLast() {
    var course = Course(places: 2, demoted: [0])
    course.pass(.milliseconds(300))
    course.open(.place(0))
    course.pass(.seconds(2))
    #expect(course.race.current == nil)
    course.open(.place(1))
    #expect(course.race.current == .place(1))
  }

  @Test func whoHasFailedLatelyIsUsedIfNoOtherOpens() {
    var course = Course(places: 2, demoted: [0])
    course.pass(.milliseconds(300))
    course.open(.place(0))
    course.pass(.seconds(3))
    #expect(course.race.current == .place(0))
    var alone = Course(places: 1, demoted: [0])
    alone.pass(.milliseconds(300))
    alone.open(.place(0))
    alone.pass(.milliseconds(700))
    #expect(alone.race.current == .place(0))
  }

  @Test func aSilentOneGetsASecondAndLongerChanceWhenAllHaveFailed() {
    var course = Course(places: 2)
    course.fail(.own, .useless("not here"))
    course.open(.place(0))
    course.open(.place(1))
    course.pass(.seconds(3))
    course.fail(.place(1), .useless("wrong"))
    #expect(course.end == nil)
    course.pass(.seconds(1))
    course.open(.place(0))
    #expect(course.race.current == .place(0))
    course.pass(.seconds(7))
    #expect(course.race.current == .place(0))
    course.fail(.place(0), .useless("no answer in time"))
    course.pass(.seconds(20))
    #expect(course.end == ["not here", "no answer in time", "wrong"])
  }

  @Test func aPlaceThatIsLostIsTriedAgainButNotWithoutEnd() {
    var course = Course(places: 1)
    course.fail(.own, .useless("not here"))
    for _ in 0..<10 where course.end == nil {
      course.open(.place(0))
      course.fail(.place(0), .lost("it was lost"))
      course.pass(.seconds(1))
    }
    #expect(course.end == ["not here", "it was lost"])
    #expect(course.actions.filter { $0 == .open(.place(0)) }.count == LineRace.mostRounds)
  }

  /// The child is busy: it took the connection and did not keep it, before the line was open or after.
  @Test(arguments: [false, true]) func anOwnAddressThatIsLostIsTriedAgainForAWhile(wasOpen: Bool) {
    var course = Course(places: 0)
    var openings: [Duration] = [.zero]
    while course.end == nil {
      if wasOpen {
        course.open(.own)
        course.fail(.own, .lost("it was lost"))
        course.fail(.own, .useless("no address is left"))
      } else {
        course.fail(.own, .lost("it was lost"))
      }
      let count = course.actions.count { $0 == .open(.own) }
      for _ in 0..<100 where course.end == nil && course.actions.count(where: { $0 == .open(.own) }) == count {
        course.pass(.milliseconds(100))
      }
      if course.end == nil { openings.append(course.now - .zero) }
    }
    #expect(openings == [0, 1, 3, 7].map { .seconds($0) })
    #expect(course.end == [wasOpen ? "no address is left" : "it was lost"])
  }

  @Test func anOwnAddressThatIsUselessIsNotTriedAgain() {
    var course = Course(places: 0)
    course.fail(.own, .useless("nothing listens there"))
    #expect(course.end == ["nothing listens there"])
  }

  /// A full second chance is for when all have failed.
  @Test func theNextOwnAddressAfterALossMakesWayInTime() {
    var course = Course(places: 1)
    course.open(.own)
    course.pass(.milliseconds(300))
    course.open(.place(0))
    course.fail(.own, .lost("it was lost"))
    course.pass(.seconds(1))
    #expect(course.race.current == .place(0))
    var other = Course(places: 1)
    other.open(.own)
    other.fail(.own, .lost("it was lost"))
    other.open(.own)
    other.pass(.milliseconds(300))
    other.open(.place(0))
    other.pass(.seconds(3))
    #expect(other.race.current == .place(0))
  }

  @Test func anAbsentChildIsAskedForOnceMore() {
    var course = Course(places: 1)
    course.pass(.milliseconds(300))
    course.fail(.place(0), .absent("not there"))
    #expect(course.actions.last == .notMet([LineRace.Said(line: .place(0), reason: "not there")]))
    course.fail(.own, .useless("not here"))
    #expect(course.end == nil)
    course.pass(.seconds(1))
    course.fail(.place(0), .absent("not there"))
    #expect(course.end == ["not here", "not there"])
  }

  /// Whatever has happened before.
  @Test func whenAllFailItIsGivenUp() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<2000 {
      var course = Course(places: Int.random(in: 0...3, using: &random), demoted: [0])
      for _ in 0..<40 where course.end == nil {
        let line = [LineRace.Line.own, .place(0), .place(1), .place(2)].randomElement(using: &random) ?? .own
        switch Int.random(in: 0...5, using: &random) {
        case 0: course.open(line)
        case 1: course.fail(line, .useless("x"))
        case 2: course.fail(line, .lost("x"))
        case 3: course.fail(line, .absent("x"))
        case 4: course.race.answered(now: course.now)
        default: course.pass(.milliseconds(Int64.random(in: 0...5000, using: &random)))
        }
      }
      for _ in 0..<100 where course.end == nil {
        for line in [LineRace.Line.own, .place(0), .place(1), .place(2)] { course.fail(line, .absent("x")) }
        course.pass(.seconds(1))
      }
      #expect(course.end != nil)
    }
  }
}
