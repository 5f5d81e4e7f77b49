import Control
import Monitoring
import Testing
import Wire

@Suite struct ProofPolicyTests {
  private func code(
    _ policy: ProofPolicy, _ caller: ProofPolicy.Caller = .parent, isRunning: Bool = false, at seconds: Int
  ) -> ControlError.Code? {
    do throws(ControlError) {
      try policy.check(caller, isRunning: isRunning, now: .zero + .seconds(seconds))
      return nil
    } catch { return error.code }
  }

  @Test func guestsAndTokensStartNoDrill() {
    #expect(code(ProofPolicy(.drill), .guest, at: 0) == .notPermitted)
  }

  @Test func thereIsADrillInTenMinutesUnlessAnOwnerWantsAnother() {
    var policy = ProofPolicy(.drill)
    #expect(code(policy, at: 0) == nil)
    policy.recordStart(by: .owner, now: .zero)
    #expect(code(policy, at: 1) == .busy && code(policy, at: 599) == .busy)
    #expect(code(policy, .owner, at: 1) == nil)
    #expect(code(policy, .owner, isRunning: true, at: 1) == .busy)
    #expect(code(policy, at: 600) == nil)
    policy.recordStart(by: .parent, now: .zero + .seconds(300))
    #expect(code(policy, at: 601) == .busy && code(policy, at: 900) == nil)
  }

  @Test func guestsShareASoundCheckInTenMinutes() {
    var policy = ProofPolicy(.soundCheck)
    #expect(code(policy, .guest, at: 0) == nil)
    policy.recordStart(by: .guest, now: .zero)
    #expect(code(policy, .guest, isRunning: true, at: 1) == .busy && code(policy, .guest, at: 20) == .busy)
    #expect(code(policy, .guest, at: 599) == .busy && code(policy, .guest, at: 600) == nil)
  }

  @Test func aParentsSoundCheckWaitsForNoGuest() {
    var policy = ProofPolicy(.soundCheck)
    policy.recordStart(by: .guest, now: .zero)
    for caller in [ProofPolicy.Caller.parent, .owner] {
      #expect(code(policy, caller, isRunning: true, at: 1) == nil && code(policy, caller, at: 20) == nil)
    }
    // Another parent's is one that it waits for, and who was first.
    policy.recordStart(by: .parent, now: .zero + .seconds(1))
    for caller in [ProofPolicy.Caller.guest, .parent, .owner] {
      #expect(code(policy, caller, isRunning: true, at: 2) == .busy)
    }
    #expect(code(policy, .parent, at: 13) == nil && code(policy, .owner, at: 13) == nil)
  }

  @Test func theRefusalSaysWhenAndWhoMay() {
    for (kind, caller, words) in [
      (
        ProofPolicy.Kind.drill, ProofPolicy.Caller.parent,
        "There was a drill a few minutes ago. Try again in 4 min, or ask an owner"
      ),
      (.soundCheck, .guest, "There was a sound check a few minutes ago. Try again in 4 min, or ask a parent"),
    ] {
      var policy = ProofPolicy(kind)
      policy.recordStart(by: caller, now: .zero)
      do throws(ControlError) {
        try policy.check(caller, isRunning: false, now: .zero + .seconds(361))
        Issue.record("it is too soon")
      } catch { #expect(error.message.hasPrefix(words), "\(error)") }
    }
  }
}
