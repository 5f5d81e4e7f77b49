import FoundationEssentials
import Logging
import Testing
import Wire

@testable import Child

@Suite struct RefusedPlayersTests {
  private let log = CollectedLog()
  private let refused: RefusedPlayers

  init() {
    let log = log
    refused = RefusedPlayers(logger: Logger(label: "test") { _ in log })
  }

  private func refusal(
    _ address: String = "192.0.2.5", token: String? = nil, _ status: Int = 401, _ reason: String = "no token"
  ) -> RefusedPlayers.Refusal {
    .init(address: address, token: token, status: status, reason: reason)
  }

  @Test func whoWhyWhenAndHowOften() throws {
    for second in 0..<700 { refused.record(refusal(token: "hall"), now: .zero + .seconds(second)) }
    refused.record(refusal("192.0.2.6", 404, "no camera"), now: .zero + .seconds(100))
    let date = Date(timeIntervalSince1970: 1_790_000_000)
    let report = refused.report(now: .zero + .seconds(709), date: date)
    #expect(
      report == [
        .init(
          address: "192.0.2.5", token: "hall", status: 401, reason: "no token", count: 700,
          firstAt: date.addingTimeInterval(-709), lastAt: date.addingTimeInterval(-10)),
        .init(
          address: "192.0.2.6", status: 404, reason: "no camera", count: 1, firstAt: date.addingTimeInterval(-609),
          lastAt: date.addingTimeInterval(-609)),
      ])
    #expect(
      log.all == [
        "a player was refused address=192.0.2.5 reason=no token status=401 token=hall",
        "a player was refused address=192.0.2.5 reason=no token status=401 times=600 token=hall",
        "a player was refused address=192.0.2.6 reason=no camera status=404",
      ], "\(log.all)")
    #expect(refused.report(now: .zero + .seconds(86_400 + 200), date: date).count == 1)
    #expect(refused.report(now: .zero + .seconds(2 * 86_400), date: date).isEmpty)
  }

  @Test func strangersFillNeitherTheLogNorThePlacesOfTheFamily() {
    refused.record(refusal(token: "hall"), now: .zero)
    for last in 0..<10_000 { refused.record(refusal("2001:db8::\(last)"), now: .zero + .milliseconds(last)) }
    refused.record(refusal(token: "kitchen"), now: .zero + .seconds(11))
    let report = refused.report(now: .zero + .seconds(12), date: Date())
    #expect(report.count == RefusedPlayers.maximum + 2 && report.compactMap(\.token).sorted() == ["hall", "kitchen"])
    #expect(log.all.count == RefusedPlayers.maximum + 2 && log.all.last?.contains("kitchen") == true)
  }

  /// The words of a 400 name codecs of the player's own offer.
  @Test func wordsThatThePlayerMakesUpFillNothing() {
    for number in 0..<1000 {
      let words = "codec \(number) " + String(repeating: "x", count: 10_000)
      refused.record(refusal(token: "hall", 400, words), now: .zero + .milliseconds(number))
    }
    let report = refused.report(now: .zero + .seconds(2), date: Date())
    #expect(report.map(\.count) == [997, 1, 1, 1] && report[0].reason.utf8.count == 200 && log.all.count == 4)
    #expect(report[0].reason.hasPrefix("codec 999"))
  }

  @Test func reasonsOfOneStatusAreCountedApart() {
    for second in 0..<4 {
      refused.record(
        refusal(token: "hall", 400, second < 3 ? "no fingerprint" : "no rtcp-mux"), now: .zero + .seconds(second))
      refused.record(refusal(token: "hall", 403, "not allowed"), now: .zero + .seconds(second))
    }
    let report = refused.report(now: .zero + .seconds(5), date: Date())
    #expect(Set(report.map { "\($0.reason) \($0.count)" }) == ["no fingerprint 3", "no rtcp-mux 1", "not allowed 4"])
  }

  /// Also where nobody comes any more.
  @Test func theLogHasHowOftenAfterTenMinutes() {
    for second in 0..<30 { refused.record(refusal(token: "hall"), now: .zero + .seconds(second)) }
    for last in 0..<100 { refused.record(refusal("2001:db8::\(last)"), now: .zero + .seconds(30)) }
    refused.logRepeats(now: .zero + .seconds(599))
    #expect(log.all.count == 1 + RefusedPlayers.maximum)
    for second in 600...700 { refused.logRepeats(now: .zero + .seconds(second)) }
    #expect(
      log.all.dropFirst(1 + RefusedPlayers.maximum) == [
        "a player was refused address=192.0.2.5 reason=no token status=401 times=29 token=hall",
        "other players were refused times=84",
      ], "\(log.all.suffix(3))")
  }
}
