import TestSupport
import Testing
import Wire

@testable import Signaling

private typealias Course = MeetingCourse<MeetingHostMachine>

extension Course {
  fileprivate init(_ timing: MeetingHostMachine.Timing = .mqtt, seed: UInt64 = 1) {
    self.init(of: MeetingHostMachine(timing, random: SeededGenerator(seed: seed)))
  }

  /// Lets time pass until it connects again.
  fileprivate mutating func passUntilConnecting() throws -> Duration {
    let before = now
    now = try #require(machine.nextDeadline)
    actions += machine.handleTimeout(now: now)
    #expect(take() == [.connect])
    return now - before
  }

  fileprivate mutating func addressesChanged(isGone: Bool, isOffline: Bool = false) {
    actions += machine.addressesChanged(isGone: isGone, isOffline: isOffline, now: now)
  }
}

/// The child's end of a meeting place in fake time.
@Suite struct MeetingHostMachineTests {
  private static let lost: [MeetingHostMachine.Action] = [.drop, .event(.absent(reason: "lost"))]

  @Test(arguments: [MeetingHostMachine.Timing.mqtt, .xmpp, .rendezvous])
  func itConnectsAnnouncesAndIsPresent(timing: MeetingHostMachine.Timing) {
    var course = Course(timing)
    #expect(course.take() == [.connect] && !course.machine.isPresent)
    course.receive(.message(from: "anna", "too early"), .present)
    #expect(course.take() == [])
    course.receive(.connected)
    #expect(course.take() == [.announce] && !course.machine.isPresent)
    course.receive(.present, .present, .connected)
    #expect(course.take() == [.event(.present)] && course.machine.isPresent)
    course.receive(.message(from: "anna", "offer"), .iceServers([], place: nil))
    #expect(course.take() == [.event(.message(from: "anna", "offer")), .event(.iceServers([], place: nil))])
    #expect(course.machine.announce() == [.announce])
  }

  @Test func aPresenceThatTheServerDoesNotAcceptInTimeIsNone() {
    var course = Course()
    course.pass(.seconds(60))
    #expect(course.take() == [.connect], "the transport has a limit of its own")
    course.receive(.connected)
    course.pass(.seconds(9))
    #expect(course.take() == [.announce])
    course.pass(.seconds(1))
    #expect(course.take() == [.drop, .event(.absent(reason: "it does not answer"))])
  }

  @Test func aConnectionThatTakesTooLongIsGivenUp() {
    var course = Course(.xmpp)
    course.pass(.seconds(19))
    #expect(course.take() == [.connect])
    course.pass(.seconds(1))
    #expect(course.take() == [.drop, .event(.absent(reason: "it does not answer"))])
  }

  /// 1 s, 2 s, 4 s … 60 s, each less up to a half by chance.
  @Test(arguments: 1...20) func itTriesMoreAndMoreSeldom(seed: UInt64) throws {
    var course = Course(seed: seed)
    var pauses: [Duration] = []
    _ = course.take()
    for _ in 0..<9 {
      course.receive(.connected, .present, .lost("lost"))
      #expect(course.take() == [.announce, .event(.present)] + Self.lost)
      pauses.append(try course.passUntilConnecting())
    }
    for (pause, whole) in zip(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]) {
      #expect(pause <= .seconds(whole) && pause >= .milliseconds(500 * whole), "\(pauses)")
    }
  }

  @Test(arguments: [(MeetingHostMachine.Timing.mqtt, 31), (.xmpp, 31), (.rendezvous, 61)])
  func aConnectionThatLastedIsMadeAgainSoon(timing: MeetingHostMachine.Timing, seconds: Int) throws {
    for (lasting, isSoon) in [(seconds, true), (seconds - 2, false)] {
      var course = Course(timing)
      for _ in 0..<5 {
        course.receive(.connected, .present, .lost("lost"))
        _ = course.take()
        _ = try course.passUntilConnecting()
      }
      course.receive(.connected, .present)
      course.pass(.seconds(lasting))
      course.receive(.lost("lost"))
      _ = course.take()
      let pause = try course.passUntilConnecting()
      #expect((pause <= .seconds(1)) == isSoon, "\(pause)")
    }
  }

  @Test func aConnectionFromAnAddressThatIsGoneIsMadeAgainAtOnce() throws {
    var course = Course()
    course.receive(.connected, .present)
    _ = course.take()
    course.addressesChanged(isGone: true, isOffline: true)
    #expect(course.take() == [.drop, .event(.absent(reason: "this machine's addresses have changed"))])
    #expect(try course.passUntilConnecting() == .zero)
    // It was not present, so nobody is notified.
    course.addressesChanged(isGone: true)
    #expect(course.take() == [.drop])
    #expect(try course.passUntilConnecting() == .zero)
    course.receive(.connected, .present)
    _ = course.take()
    course.addressesChanged(isGone: false)
    #expect(course.take() == [.verify(within: .seconds(3))])
  }

  @Test func aNetworkThatIsBackIsTriedSoon() throws {
    var course = Course()
    for _ in 0..<6 {
      course.receive(.lost("lost"))
      _ = course.take()
      _ = try course.passUntilConnecting()
    }
    course.receive(.lost("lost"))
    _ = course.take()
    let due = try #require(course.machine.nextDeadline)
    course.addressesChanged(isGone: true, isOffline: true)
    #expect(course.machine.nextDeadline == due && due - course.now > .seconds(15))
    course.addressesChanged(isGone: true)
    #expect(try course.passUntilConnecting() == .seconds(1))
    course.receive(.lost("lost"))
    _ = course.take()
    #expect(course.machine.verify(now: course.now) == [])
    #expect(try course.passUntilConnecting() == .zero)
  }

  @Test func aRendezvousIsAskedForASignOfLife() {
    var course = Course(.rendezvous)
    course.receive(.connected, .present)
    _ = course.take()
    course.pass(.seconds(119))
    #expect(course.take() == [])
    course.pass(.seconds(241))
    #expect(course.take() == Array(repeating: .verify(within: .seconds(8)), count: 3))
    var other = Course()
    other.receive(.connected, .present)
    #expect(other.machine.nextDeadline == nil)
  }

  @Test func afterTheEndNothingIsDone() {
    var fresh = MeetingHostMachine(.mqtt, random: SeededGenerator(seed: 1))
    #expect(fresh.close() == false && fresh.start(now: .zero) == [])
    for inputs: [MeetingHostMachine.Input] in [[], [.connected], [.connected, .present]] {
      var course = Course()
      for input in inputs { course.receive(input) }
      _ = course.take()
      #expect(course.machine.close() == true, "there is somebody to say goodbye to")
      course.receive(.connected, .present, .message(from: "anna", "x"), .lost("lost"))
      course.addressesChanged(isGone: true)
      course.pass(.seconds(300))
      #expect(course.take() == [] && course.machine.announce() == [] && course.machine.verify(now: course.now) == [])
      #expect(course.machine.close() == false && course.machine.nextDeadline == nil)
    }
    var waiting = Course()
    waiting.receive(.lost("lost"))
    #expect(waiting.machine.close() == false && waiting.machine.nextDeadline == nil)
  }
}
