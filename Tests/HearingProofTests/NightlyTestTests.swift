import HearingProof
import Testing
import Wire

@Suite struct NightlyTestTests {
  /// Seconds after midnight at which it began, from a time on.
  private func begins(
    at minutes: Int, from start: Int, seconds: Int, isListening: (Int) -> Bool
  ) -> [Int] {
    var test = NightlyTest(minutes: minutes)
    return (0..<seconds).compactMap { offset in
      let second = start + offset
      let isDue = test.isDue(
        minutesOfDay: second / 60 % 1440, hasListeners: isListening(second), now: .zero + .seconds(offset))
      return isDue ? second : nil
    }
  }

  @Test func itBeginsOnceADayWhenSomebodyListens() {
    let day = 86_400
    #expect(begins(at: 1170, from: 0, seconds: 2 * day) { _ in true } == [1170 * 60, 1170 * 60 + day])
  }

  @Test func itWaitsForSomebodyToListen() {
    // 20:00, and ten seconds for the receiver.
    #expect(begins(at: 1170, from: 1169 * 60, seconds: 7200) { $0 >= 1200 * 60 } == [1200 * 60 + 10])
  }

  @Test func afterTwoHoursItIsMadeAllTheSame() {
    #expect(begins(at: 1170, from: 1169 * 60, seconds: 8000) { _ in false } == [1170 * 60 + 7200])
  }
}
