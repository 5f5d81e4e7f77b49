import Testing
import Wire

@testable import Signaling

/// An end of a meeting place as a core.
protocol MeetingMachine {
  associatedtype Input
  associatedtype Action
  var nextDeadline: Instant? { get }
  mutating func start(now: Instant) -> [Action]
  mutating func receive(_ input: Input, now: Instant) -> [Action]
  mutating func handleTimeout(now: Instant) -> [Action]
}

extension MeetingHostMachine: MeetingMachine {}
extension MeetingLinkMachine: MeetingMachine {}

/// An end of a meeting place in fake time, and what it has done.
struct MeetingCourse<Machine: MeetingMachine> {
  var machine: Machine
  var now = Instant.zero
  var actions: [Machine.Action]

  init(of machine: Machine) {
    self.machine = machine
    actions = self.machine.start(now: now)
  }

  /// What has been done since it was last taken.
  mutating func take() -> [Machine.Action] {
    defer { actions = [] }
    return actions
  }

  mutating func receive(_ inputs: Machine.Input...) {
    for input in inputs { actions += machine.receive(input, now: now) }
  }

  /// Lets time pass, deadline by deadline.
  mutating func pass(_ duration: Duration) {
    let end = now + duration
    while let deadline = machine.nextDeadline, deadline <= end {
      now = max(now, deadline)
      actions += machine.handleTimeout(now: now)
      if let next = machine.nextDeadline, next <= deadline {
        Issue.record("a deadline that has passed is gone")
        return
      }
    }
    now = end
  }
}
