import RTPReceiving
import Testing

@testable import Devices
@testable import Pipelines

@Suite struct SpeakerDriftTests {
  /// A speaker whose clock differs from that of whoever writes, for a night, as far as counts go: reads of 10 ms, writes
  /// of 20 ms.
  @Test(arguments: [50e-6, -50e-6]) func aNightNeedsNoneOfTheRingsSteps(drift: Double) {
    let ring = (target: 960, patience: 9600)
    var regulator = PlaybackRegulator(target: ring.target, patience: ring.patience)
    var pace = DriftRegulator()
    var level = Double(regulator.startLevel(reading: 480))
    var time = 0.0
    var nextWrite = 0.02
    var steps = 0
    var (lowest, highest) = (Double.infinity, 0.0)
    // Of the last four hours.
    var rates: (sum: Double, count: Double) = (0, 0)
    for read in 0..<8 * 360_000 {
      while nextWrite <= time {
        level += 960 * (1 - Double(pace.rate) / 1e9)
        nextWrite += 0.02
      }
      let step = regulator.step(level: Int(level), reading: 480)
      level -= Double(480 + step)
      if let excess = regulator.takeExcess() {
        pace.note(excess: Int64(excess) * 62_500 / 3, elapsed: 1_000_000_000)
        if read > 4 * 360_000 { rates = (rates.sum + Double(pace.rate), rates.count + 1) }
      }
      time += 0.01 / (1 + drift)
      if step != 0 { steps += 1 }
      // After the first minutes.
      guard read > 60_000 else { continue }
      (lowest, highest) = (min(lowest, level), max(highest, level))
    }
    #expect(steps == 0)
    // The target, half of it either way, and the producer's block.
    #expect(lowest > 480 && highest < 960 + 960 + 480, "\(lowest) to \(highest) samples")
    // Counts go in steps of 10 ms, so the rate swings a little around the difference of the clocks.
    let mean = rates.sum / rates.count
    #expect(abs(mean + drift * 1e9) < 5000, "\(mean)")
  }
}
