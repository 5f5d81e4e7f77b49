import RTPSending
import TestSupport
import Testing
import Wire

/// Several viewers behind one narrow place, as the child's own Wi-Fi is.
@Suite struct SharedPathTests {
  @Test(arguments: [2, 4], [1_500_000.0, 3_000_000])
  func viewersShareItAndTheQueueStaysShort(viewers: Int, bitsPerSecond: Double) {
    var house = House(viewers: viewers, bitsPerSecond: bitsPerSecond)
    house.run(for: .seconds(20))
    let seen = house.watch(for: 40)
    #expect(seen.delay95 < 150)
    #expect((0.6...1.1).contains(seen.means.reduce(0, +) * 1000 / bitsPerSecond), "\(seen.means)")
    #expect(seen.means.max()! / seen.means.min()! < 3, "\(seen.means)")
  }
}
