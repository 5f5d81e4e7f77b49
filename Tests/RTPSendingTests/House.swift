import RTPSending
import TestSupport
import Wire

/// Calls whose packets go through the same queue; one of them at a time may probe, as the child has it.
struct House {
  var calls: [Call]
  var link: Bottleneck
  /// Of each call, behind the queue.
  private var delays: [Duration]
  private var turn = 0

  init(
    viewers: Int, bitsPerSecond: Double, queueMilliseconds: Double = 500, delays: [Duration]? = nil,
    cameraKbps: Double = 1500
  ) {
    var configuration = RTPSenderConfiguration()
    configuration.minimumBitrateKbps = 30
    configuration.usefulBitrateKbps = 2100
    var link = Bottleneck(bitsPerSecond: bitsPerSecond)
    link.queueMilliseconds = queueMilliseconds
    self.link = link
    self.delays = delays ?? [Duration](repeating: .milliseconds(10), count: viewers)
    calls = (0..<viewers).map { [link] index in
      var call = Call(rig: Rig(configuration: configuration, seed: UInt64(index + 1)), link: link)
      call.isLadder = true
      call.answersRequests = true
      call.cameraKbps = cameraKbps
      return call
    }
  }

  mutating func run(for duration: Duration) {
    for step in 0..<Int(duration / .milliseconds(1)) {
      if step % 250 == 0 { passTurn() }
      for index in calls.indices {
        let lastArrival = calls[index].link.lastArrival
        calls[index].link = link
        calls[index].link.delay = delays[index]
        // One flow's long way delays no other's.
        calls[index].link.lastArrival = lastArrival
        calls[index].run(for: .milliseconds(1))
        link = calls[index].link
      }
    }
  }

  struct Seen {
    /// Of each call's target, kbit/s.
    var means: [Double]
    /// What each call used of the path, kbit/s.
    var rates: [Double]
    /// The 95th percentile of the one-way delay of all that was sent, milliseconds.
    var delay95: Double
  }

  mutating func watch(for seconds: Int) -> Seen {
    let (before, bytes) = (calls.map(\.latencies.count), calls.map(\.arrivedBytes))
    var sums = [Double](repeating: 0, count: calls.count)
    for _ in 0..<seconds {
      run(for: .seconds(1))
      for (index, call) in calls.enumerated() { sums[index] += Double(call.targetKbps) }
    }
    let latencies = zip(calls, before).flatMap { $0.latencies[$1...].map(\.milliseconds) }.sorted()
    return Seen(
      means: sums.map { $0 / Double(seconds) },
      rates: zip(calls, bytes).map { Double($0.arrivedBytes - $1) * 0.008 / Double(seconds) },
      delay95: latencies.isEmpty ? .infinity : latencies[latencies.count * 95 / 100])
  }

  private mutating func passTurn() {
    let order = (1...calls.count).map { (turn + $0) % calls.count }
    if let next = order.first(where: { calls[$0].rig.sender.wantsProbe }) {
      turn = next
      for index in calls.indices { calls[index].rig.sender.mayProbe = index == next }
    }
  }
}
