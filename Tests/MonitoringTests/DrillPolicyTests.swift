import Control
import Monitoring
import Testing
import Wire

@Suite struct DrillPolicyTests {
  private func code(
    _ policy: DrillPolicy, mayStart: Bool = true, isOwner: Bool = false, isRunning: Bool = false, at seconds: Int
  )
    -> ControlError.Code?
  {
    do throws(ControlError) {
      try policy.check(mayStart: mayStart, isOwner: isOwner, isRunning: isRunning, now: .zero + .seconds(seconds))
      return nil
    } catch { return error.code }
  }

  @Test func guestsAndTokensStartNone() {
    #expect(code(DrillPolicy(), mayStart: false, at: 0) == .notPermitted)
    #expect(code(DrillPolicy(), mayStart: false, isOwner: true, at: 0) == .notPermitted)
  }

  @Test func thereIsOneInTenMinutesUnlessAnOwnerWantsAnother() {
    var policy = DrillPolicy()
    #expect(code(policy, at: 0) == nil)
    policy.recordStart(now: .zero)
    #expect(code(policy, at: 1) == .busy && code(policy, at: 599) == .busy)
    #expect(code(policy, isOwner: true, at: 1) == nil)
    #expect(code(policy, isOwner: true, isRunning: true, at: 1) == .busy)
    #expect(code(policy, at: 600) == nil)
    policy.recordStart(now: .zero + .seconds(300))
    #expect(code(policy, at: 601) == .busy && code(policy, at: 900) == nil)
  }

  @Test func theRefusalSaysWhen() {
    var policy = DrillPolicy()
    policy.recordStart(now: .zero)
    do throws(ControlError) {
      try policy.check(mayStart: true, isOwner: false, isRunning: false, now: .zero + .seconds(361))
      Issue.record("it is too soon")
    } catch { #expect(error.message.contains("in 4 min"), "\(error)") }
  }
}
