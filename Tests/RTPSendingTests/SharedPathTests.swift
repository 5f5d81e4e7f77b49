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
    let before = house.calls.map(\.latencies.count)
    var sums = [Double](repeating: 0, count: viewers)
    let seconds = 40
    for _ in 0..<seconds {
      house.run(for: .seconds(1))
      for (index, call) in house.calls.enumerated() { sums[index] += Double(call.targetKbps) }
    }
    let means = sums.map { $0 / Double(seconds) }
    let delays = zip(house.calls, before).flatMap { $0.latencies[$1...].map(\.milliseconds) }.sorted()
    #expect(delays[delays.count * 95 / 100] < 150)
    #expect((0.6...1.1).contains(means.reduce(0, +) * 1000 / bitsPerSecond), "\(means)")
    #expect(means.max()! / means.min()! < 3, "\(means)")
  }
}

/// Calls whose packets go through the same queue; one of them at a time may probe.
private struct House {
  var calls: [Call]
  private var link: Bottleneck
  private var turn = 0

  init(viewers: Int, bitsPerSecond: Double) {
    var configuration = RTPSenderConfiguration()
    configuration.minimumBitrateKbps = 30
    configuration.usefulBitrateKbps = 2100
    var link = Bottleneck(bitsPerSecond: bitsPerSecond)
    link.delay = .milliseconds(10)
    self.link = link
    calls = (0..<viewers).map { [link] index in
      var call = Call(rig: Rig(configuration: configuration, seed: UInt64(index + 1)), link: link)
      call.isLadder = true
      call.cameraKbps = 1500
      return call
    }
  }

  mutating func run(for duration: Duration) {
    for step in 0..<Int(duration / .milliseconds(1)) {
      if step % 250 == 0 { passTurn() }
      for index in calls.indices {
        calls[index].link = link
        calls[index].run(for: .milliseconds(1))
        link = calls[index].link
      }
    }
  }

  private mutating func passTurn() {
    let order = (1...calls.count).map { (turn + $0) % calls.count }
    if let next = order.first(where: { calls[$0].rig.sender.wantsProbe }) {
      turn = next
      for index in calls.indices { calls[index].rig.sender.mayProbe = index == next }
    }
  }
}
