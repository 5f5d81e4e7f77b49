import TestSupport
import Testing
import Wire

@testable import Signaling

private typealias Course = MeetingCourse<MeetingLinkMachine>

extension Course {
  fileprivate init(_ timing: MeetingLinkMachine.Timing) {
    self.init(
      of: MeetingLinkMachine(
        timing, child: MeetingLinkMachineTests.child, client: "anna-1", random: SeededGenerator(seed: 1)))
  }
}

/// A parent's end of a meeting place in fake time.
@Suite struct MeetingLinkMachineTests {
  fileprivate static let child = "0123456789abcdef"

  private static func registration(_ host: RoomRegistration.Host) -> RoomRegistration {
    RoomRegistration(
      room: child, client: "anna-1", isInitiator: true, challenge: String(repeating: "A", count: 22), host: host)
  }

  private static let register = RoomRequest.register(room: child, client: "anna-1")

  @Test(arguments: [MeetingLinkMachine.Timing.mqtt, .xmpp])
  func aChildThatShowsItsPresenceIsMet(timing: MeetingLinkMachine.Timing) throws {
    var course = Course(timing)
    #expect(course.take() == [.connect] && course.machine.send(Self.register) == [])
    course.receive(.reply(.presence("too early")), .connected)
    #expect(course.take() == [.ask])
    course.receive(.presence(nil), .presence("here"))
    #expect(course.take() == [.opened] && course.machine.isOpen)
    guard case .reply(.registered(let registration)) = try #require(course.machine.send(Self.register).first) else {
      return #expect(Bool(false))
    }
    #expect(registration.room == Self.child && registration.client == "anna-1" && registration.isInitiator)
    #expect(registration.host == .elsewhere(presence: "here") && SignedMessage.isChallenge(registration.challenge))
    guard case .reply(.registered(let other)) = try #require(course.machine.send(Self.register).first) else {
      return #expect(Bool(false))
    }
    #expect(other.challenge != registration.challenge)
    let offer = RoomRequest.send(to: Self.child, message: "offer")
    #expect(course.machine.send(offer) == [.send(offer)])
    course.receive(.reply(.error(RoomError(.refused, "go"))), .presence("here"), .presence("newer"))
    #expect(course.take() == [.reply(.error(RoomError(.refused, "go"))), .reply(.presence("newer"))])
    course.receive(.lost("lost"))
    #expect(course.take() == [.leave, .lost("lost")] && course.machine.send(offer) == [])
  }

  /// A broker may send what it retains before it acknowledges the subscription.
  @Test func aPresenceThatComesEarlyCounts() {
    var course = Course(.mqtt)
    course.receive(.presence("here"))
    #expect(course.take() == [.connect])
    course.receive(.connected)
    #expect(course.take() == [.opened])
  }

  @Test(arguments: [(MeetingLinkMachine.Timing.mqtt, 1), (.xmpp, 3)])
  func aChildThatShowsNoneIsAbsent(timing: MeetingLinkMachine.Timing, seconds: Int) {
    var course = Course(timing)
    course.receive(.connected)
    course.pass(.seconds(seconds) - .milliseconds(1))
    #expect(course.take() == [.connect, .ask])
    course.pass(.milliseconds(1))
    #expect(course.take() == [.leave, .failed(.absent)] && course.machine.nextDeadline == nil)
  }

  @Test func whatTheServerSaysOfAnAbsentChildIsBelievedAtOnce() {
    var course = Course(.xmpp)
    course.receive(.connected, .absent)
    #expect(course.take() == [.connect, .ask, .leave, .failed(.absent)])
  }

  @Test(arguments: [(MeetingLinkMachine.Timing.mqtt, 10), (.xmpp, 15)])
  func aServerThatIsSilentIsGivenUp(timing: MeetingLinkMachine.Timing, seconds: Int) {
    var course = Course(timing)
    course.pass(.seconds(seconds) - .milliseconds(1))
    #expect(course.take() == [.connect])
    course.pass(.milliseconds(1))
    #expect(course.take() == [.drop, .failed(.unreachable("it does not answer"))])
  }

  /// It takes the connection, and says nothing: a line that waits for ever would keep a session from its other lines.
  @Test func aRendezvousThatDoesNotRegisterUsIsGivenUp() {
    var course = Course(.rendezvous)
    course.receive(.connected)
    course.pass(.seconds(10))
    #expect(course.take() == [.connect, .ask, .leave, .failed(.unreachable("it does not answer"))])
  }

  @Test func aRoomAnswersTheFirstRegistrationAlready() {
    var course = Course(.rendezvous)
    let registration = Self.registration(.elsewhere(presence: "here"))
    course.receive(.connected, .registered(registration))
    #expect(course.take() == [.connect, .ask, .opened])
    #expect(course.machine.send(Self.register) == [.reply(.registered(registration))])
    #expect(course.machine.send(Self.register) == [.send(Self.register)])
    course.receive(.registered(registration), .reply(.presence(nil)), .reply(.presence(nil)))
    #expect(
      course.take() == [.reply(.registered(registration)), .reply(.presence(nil)), .reply(.presence(nil))],
      "a room's words are passed on as they are")
    for host: RoomRegistration.Host in [.absent, .here] {
      var other = Course(.rendezvous)
      other.receive(.connected, .registered(Self.registration(host)))
      #expect(other.take() == [.connect, .ask, .leave, .failed(.absent)])
    }
  }

  @Test func onlyAnXMPPServerIsAskedForAChildThatHasGone() {
    var course = Course(.xmpp)
    course.receive(.connected, .presence("here"))
    _ = course.take()
    course.receive(.presence(nil))
    #expect(course.take() == [.reply(.presence(nil))])
    course.pass(.seconds(200))
    let questions = course.take()
    #expect(questions.allSatisfy { $0 == .ask } && (7...12).contains(questions.count), "\(questions.count)")
    course.receive(.presence("here"))
    #expect(course.take() == [.reply(.presence("here"))] && course.machine.nextDeadline == nil)
    var other = Course(.mqtt)
    other.receive(.connected, .presence("here"), .presence(nil))
    #expect(other.machine.nextDeadline == nil)
  }

  @Test func itIsClosedInEveryState() {
    var fresh = MeetingLinkMachine(.mqtt, child: Self.child, client: "a", random: SeededGenerator(seed: 1))
    #expect(fresh.close() == [] && fresh.start(now: .zero) == [])
    let courses: [([MeetingLinkMachine.Input], [MeetingLinkMachine.Action])] = [
      ([], [.drop]), ([.connected], [.leave]), ([.connected, .presence("here")], [.leave]), ([.lost("lost")], []),
    ]
    for (inputs, expected) in courses {
      var course = Course(.xmpp)
      for input in inputs { course.receive(input) }
      _ = course.take()
      #expect(course.machine.close() == expected && course.machine.nextDeadline == nil)
      course.receive(.connected, .presence("here"), .absent, .reply(.presence("x")), .lost("lost"))
      course.pass(.seconds(60))
      #expect(course.take() == [] && course.machine.close() == [])
    }
  }
}
