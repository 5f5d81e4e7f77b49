import Testing
import Wire

@testable import Devices

/// A sound card that delivers another number of samples than it says.
@Suite struct RateMeterTests {
  /// Reads of a card at `rate`, every `period` milliseconds, for `seconds`; `lateness` in milliseconds for each read.
  private func meter(
    rate: Double, period: Int64 = 20, seconds: Int64 = 12, lateness: (Int64) -> Int64 = { _ in 0 },
    isThere: (Int64) -> Bool = { _ in true }
  ) -> RateMeter {
    var meter = RateMeter(nominal: 48_000)
    var given = 0.0
    var told = 0
    for index in 0..<seconds * 1000 / period {
      if isThere(index * period) { given += rate * Double(period) / 1000 }
      let count = Int(given) - told
      guard count > 0 else { continue }
      told += count
      meter.add(frames: count, now: Instant(nanoseconds: (index * period + lateness(index)) * 1_000_000))
    }
    return meter
  }

  @Test(arguments: [8000, 16_000, 32_000, 44_100, 47_000, 48_000, 96_000]) func anEvenRateIsMeasured(rate: Double) {
    for period: Int64 in [5, 20, 64, 170] {
      guard case .steady(let measured) = meter(rate: rate, period: period, lateness: { $0 * 7 % 5 }).verdict else {
        Issue.record("\(rate) at \(period) ms")
        continue
      }
      #expect(abs(measured - rate) < rate * 0.015, "\(period) ms")
    }
  }

  @Test func itTakesFourSeconds() {
    #expect(meter(rate: 16_000, seconds: 2).verdict == .measuring)
    #expect(meter(rate: 16_000, seconds: 5).verdict != .measuring)
  }

  /// It stands for a second in five.
  @Test func aCardThatStallsIsNotSlow() {
    let stalling = meter(rate: 48_000, seconds: 30, isThere: { $0 % 2500 > 1000 })
    guard case .uneven(let rate) = stalling.verdict else {
      Issue.record("\(stalling.verdict)")
      return
    }
    #expect((25_000...33_000).contains(rate))
  }

  @Test(arguments: [1000, 1900, 6000]) func oneStallSaysNothing(length: Int64) {
    let shortly = meter(rate: 48_000, seconds: 7 + length / 1000, isThere: { !(6000..<6000 + length).contains($0) })
      .verdict
    if case .uneven = shortly { Issue.record("\(shortly)") }
    let verdict = meter(rate: 48_000, seconds: 22, isThere: { !(5000..<5000 + length).contains($0) }).verdict
    guard case .steady(let rate) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(abs(rate - 48_000) < 500)
  }
}
