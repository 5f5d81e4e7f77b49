import Testing
import Wire

@testable import Child

/// What loss the sound is encoded for.
@Suite struct ExpectedLossTests {
  /// The settings over the seconds of a night, one for each second's loss.
  private static func settings(_ losses: [Double]) -> [Int] {
    var expected = ExpectedLoss()
    return losses.enumerated().map { second, loss in
      expected.update([.init(fractionLost: loss, isLent: false)], now: .zero + .seconds(second))
    }
  }

  @Test func belowOnePercentNothingIsSpentOnIt() {
    #expect(Self.settings([0, 0.005, 0.0099]) == [0, 0, 0])
  }

  /// libopus has no FEC at our rate for an expected loss of 5 % or less.
  @Test(arguments: [
    (0.01, 6), (0.05, 6), (0.06, 6), (0.061, 10), (0.1, 10), (0.12, 15), (0.2, 20), (0.25, 30), (0.6, 30), (1, 30),
  ])
  func moreLossHasMoreProtectionAndNeverTooLittleToWork(loss: Double, percent: Int) {
    #expect(Self.settings([loss]) == [percent])
  }

  @Test func itRisesAtOnceAndFallsAfterACalmTimeToWhatThatNeeded() {
    let settings = Self.settings([0.01, 0.15] + Array(repeating: 0.02, count: 10) + Array(repeating: 0.08, count: 20))
    #expect(settings[0] == 6 && settings[1] == 15)
    // Twenty seconds from the first second that needed less; the worst of them counts.
    #expect(settings[2..<22].allSatisfy { $0 == 15 })
    #expect(settings[22...].allSatisfy { $0 == 10 })
  }

  @Test func lossThatComesAndGoesDoesNotChangeTheEncoderEachSecond() {
    let settings = Self.settings((0..<300).map { $0 % 15 == 0 ? 0.12 : 0.03 })
    #expect(settings.allSatisfy { $0 == 15 })
  }

  @Test func itIsOffAfterACalmTime() {
    let settings = Self.settings([0.03] + Array(repeating: 0, count: 25))
    #expect(settings[20] == 6 && settings[21] == 0 && settings[25] == 0)
  }

  /// Copies for a guest that reports every packet lost would take their bits from what the family hears.
  @Test func lossThatGuestsReportChangesNothingOfWhatParentsHear() {
    let guest = ExpectedLoss.Listener(fractionLost: 1, isLent: true)
    let parent = ExpectedLoss.Listener(fractionLost: 0.02, isLent: false)
    var expected = ExpectedLoss()
    #expect(expected.update([guest, guest], now: .zero) == 30, "they hear it alone")
    var beside = ExpectedLoss()
    #expect(beside.update([], now: .zero) == 0)
    for second in 0..<30 {
      #expect(beside.update([guest, parent, guest], now: .zero + .seconds(second)) == 6)
    }
    // A parent comes: what the guests needed before is over after a calm time.
    let after = (0..<25).map { expected.update([guest, parent], now: .zero + .seconds($0 + 1)) }
    #expect(after.last == 6)
  }
}
