import Testing
import Wire

@testable import Child

@Suite struct SessionStartsTests {
  private func at(_ milliseconds: Int) -> Instant { Instant.zero + .milliseconds(milliseconds) }

  /// Ten tries a second, for a minute; how many were admitted.
  private func minute(_ starts: inout SessionStarts, _ credential: Credential, _ rank: ViewerAdmission.Rank) -> Int {
    (0..<600).count { number in
      (try? starts.count(credential, rank: rank, now: at(number * 100))) != nil
    }
  }

  @Test func aGuestOrATokenStartsFewSessions() {
    var starts = SessionStarts()
    #expect(minute(&starts, .pair(id: "guest"), .guest) == 8 + 14)
    #expect(minute(&starts, .token(id: "tv"), .token) == 8 + 14)
    do throws(ViewerAdmission.Refusal) {
      try starts.count(.token(id: "tv"), rank: .token, now: at(59_900))
      Issue.record("one too many")
    } catch {
      var wait: Duration?
      if case .tooOften(let retryAfter) = error { wait = retryAfter }
      #expect(wait.map { $0 > .zero && $0 <= SessionStarts.lentInterval } == true, "\(error)")
    }
  }

  /// Two tabs and a window, each with a new session each second, while the phone goes from one network to the next.
  @Test func aParentsReconnectsNeverWait() {
    var starts = SessionStarts()
    _ = minute(&starts, .pair(id: "guest"), .guest)
    for number in 0..<90 {
      #expect(throws: Never.self) {
        try starts.count(.pair(id: "mum"), rank: .parent, now: at(number / 3 * 1000))
      }
    }
  }
}
