import RTPSending
import TestSupport
import Testing
import Wire

/// Networks that others use as well, or that carry less than they seem to: the rows of docs/NETWORK.md that need no program.
@Suite struct SharedNetworkTests {
  private static func path(_ change: (inout Bottleneck) -> Void = { _ in }) -> Bottleneck {
    var link = Bottleneck(bitsPerSecond: 100_000_000)
    link.delay = .milliseconds(10)
    change(&link)
    return link
  }

  private struct Mean: CustomStringConvertible {
    var lost = 0.0
    var kbps = 0.0
    var otherKbps = 0.0
    var targetKbps = 0.0

    init(_ seconds: some Collection<SharedRun.Second>) {
      let count = Double(seconds.count)
      for second in seconds {
        lost += second.lost / count
        kbps += second.kbps / count
        otherKbps += second.otherKbps / count
        targetKbps += Double(second.targetKbps) / count
      }
    }

    var description: String { "lost \(lost), \(kbps) of \(targetKbps) kbit/s, beside \(otherKbps)" }
  }

  @Test(arguments: [(500, 8), (1000, 16), (1000, 64), (1500, 32)], [1, 2] as [UInt64])
  func aPolicersLimitIsFollowed(limit: (kbps: Int, kilobytes: Int), seed: UInt64) {
    let policer = Policer(bitsPerSecond: Double(limit.kbps) * 1000, bucketBytes: Double(limit.kilobytes) * 1000)
    var run = SharedRun(link: Self.path { $0.policer = policer }, seed: seed)
    run.run(seconds: 50)
    let mean = Mean(run.seconds[10...])
    #expect(mean.lost < 0.05, "\(mean)")
    #expect((0.7...1.2).contains(mean.targetKbps / Double(limit.kbps)), "\(mean)")
    #expect(run.freezes(from: 10).reduce(0, +) < 1000, "\(run.freezes(from: 10))")
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func behindAPolicerADownloadHasItsShare(seed: UInt64) {
    let policer = Policer(bitsPerSecond: 2_000_000, bucketBytes: 16_000)
    var run = SharedRun(link: Self.path { $0.policer = policer }, flows: 1, seed: seed)
    run.flowsBegin = .milliseconds(8000)
    run.run(seconds: 60)
    let mean = Mean(run.seconds[18...])
    #expect(mean.lost < 0.08, "\(mean)")
    #expect((0.25...0.8).contains(mean.otherKbps / 2000), "\(mean)")
    #expect(run.freezes(from: 18).reduce(0, +) < 1000, "\(run.freezes(from: 10))")
  }

  /// The kernel's `limit` holds one second of its rate beside its burst, and takes all of a call until somebody else comes:
  /// then most is lost at once, what is sent again first. No picture for longer than a key frame takes.
  @Test(arguments: [1, 2, 3] as [UInt64]) func aDownloadThatBeginsBehindAPolicerStopsThePictureForShort(seed: UInt64) {
    let policer = Policer(bitsPerSecond: 2_000_000, bucketBytes: 266_000)
    var run = SharedRun(link: Self.path { $0.policer = policer }, flows: 1, seed: seed)
    run.flowsBegin = .milliseconds(8000)
    run.run(seconds: 25)
    #expect(run.freezes(from: 7).reduce(0, +) < 2600, "\(run.freezes(from: 7))")
    #expect(Mean(run.seconds[12...]).lost < 0.08)
  }

  /// `tbf burst 8kb`, HTB and many a modem let a burst pass as if the path were wide.
  @Test(arguments: [500, 700], [1, 2, 3] as [UInt64]) func aBucketDoesNotPassForAWidePath(kbps: Int, seed: UInt64) {
    let link = Self.path {
      $0.bitsPerSecond = Double(kbps) * 1000
      $0.queueMilliseconds = 400
      $0.burstBytes = 8000
    }
    var run = SharedRun(link: link, seed: seed)
    run.run(seconds: 50)
    #expect(run.freezes(from: 10).reduce(0, +) < 1000, "\(run.freezes(from: 10))")
    run.call.link.bitsPerSecond = 3_000_000
    run.run(seconds: 6)
    #expect(run.call.targetKbps > 1200, "\(run.seconds[50...].map(\.targetKbps))")
  }

  /// While the camera is missing only sound is sent. A queue then, as a busy machine or somebody's burst makes, says nothing of what
  /// the path carries: probes bring the rate back within seconds, not after a minute.
  @Test(arguments: [500, 2000], 1...4) func aQueueWhileLittleIsSentKeepsNobodyFromProbing(milliseconds: Int, seed: Int)
  {
    var run = SharedRun(link: Self.path { $0.bitsPerSecond = 1_600_000 }, seed: UInt64(seed))
    run.call.cameraKbps = 1
    run.run(seconds: 8 + seed)
    let end = run.call.now + .milliseconds(milliseconds)
    run.run(seconds: 10) { $0.call.link.bitsPerSecond = $0.call.now < end ? 60_000 : 1_600_000 }
    #expect(run.seconds[8 + seed].targetKbps < 100)
    #expect(run.call.targetKbps > 1000, "\(run.seconds.map(\.targetKbps))")
  }

  /// Active queue management: the queue is short whoever fills it, and loss is the signal.
  @Test(arguments: [2000, 5000], [1, 2] as [UInt64]) func behindPIENeitherStarves(kbps: Int, seed: UInt64) {
    let link = Self.path {
      $0.bitsPerSecond = Double(kbps) * 1000
      $0.pie = PIE()
    }
    var run = SharedRun(link: link, flows: 1, seed: seed)
    run.flowsBegin = .milliseconds(8000)
    run.run(seconds: 60)
    let mean = Mean(run.seconds[18...])
    #expect(mean.kbps > 400 && mean.otherKbps > 0.35 * Double(kbps), "\(mean)")
    #expect(run.freezes(from: 18, over: 500).isEmpty, "\(run.freezes(from: 18))")
  }

  /// A plain queue, which a download fills whoever gives way: the delay says nothing, and the loss is what TCP makes of it.
  @Test(arguments: [64.0, 100, 200], [1, 2] as [UInt64])
  func besideADownloadNeitherStarves(queueMilliseconds: Double, seed: UInt64) {
    let link = Self.path {
      $0.bitsPerSecond = 2_000_000
      $0.queueMilliseconds = queueMilliseconds
    }
    var run = SharedRun(link: link, flows: 1, seed: seed)
    run.flowsBegin = .milliseconds(8000)
    run.run(seconds: 60)
    let mean = Mean(run.seconds[18...])
    #expect(mean.kbps > 500 && mean.otherKbps > 700, "\(mean)")
    #expect(run.freezes(from: 18).allSatisfy { $0 < 1000 }, "\(run.freezes(from: 18))")
  }

  /// A narrower path: TCP's window is a few packets, and its queue swings by half.
  @Test(arguments: [(1000, 150), (1000, 300), (500, 200)], [1, 2, 3] as [UInt64])
  func besideADownloadOnANarrowPathThePictureGoesOn(path: (kbps: Int, milliseconds: Int), seed: UInt64) {
    let link = Self.path {
      $0.bitsPerSecond = Double(path.kbps) * 1000
      $0.queueMilliseconds = Double(path.milliseconds)
    }
    var run = SharedRun(link: link, flows: 1, seed: seed)
    run.flowsBegin = .milliseconds(8000)
    run.run(seconds: 60)
    let mean = Mean(run.seconds[18...])
    #expect(mean.kbps > 0.3 * Double(path.kbps), "\(mean)")
    #expect(run.freezes(from: 18).allSatisfy { $0 < 2000 }, "\(run.freezes(from: 18))")
  }

  /// Its sender's kernel, or its receiver's window, lets it have a few packets under way and no more. Their queue stands without loss,
  /// whatever we send: who gives way to it is left with nothing.
  @Test(arguments: [(500, 3), (700, 4), (1000, 6), (2000, 10)], [1, 2, 3] as [UInt64])
  func besideADownloadThatNeverFillsTheQueueNeitherStarves(path: (kbps: Int, window: Int), seed: UInt64) {
    let link = Self.path {
      $0.bitsPerSecond = Double(path.kbps) * 1000
      $0.queueMilliseconds = 200
    }
    var run = SharedRun(link: link, flows: 1, seed: seed)
    run.flowsBegin = .milliseconds(8000)
    run.flows[0].windowLimit = path.window
    run.run(seconds: 60)
    let mean = Mean(run.seconds[18...])
    #expect(mean.kbps > 0.3 * Double(path.kbps) && mean.otherKbps > 0.25 * Double(path.kbps), "\(mean)")
    #expect(run.freezes(from: 18).allSatisfy { $0 < 2500 }, "\(run.freezes(from: 18))")
  }

  /// What is sent within that time leaves together, and waits for itself at the narrow place behind: no queue that lasts.
  @Test(arguments: [200, 300], [1, 2, 3] as [UInt64])
  func batchesBeforeANarrowPlaceAreNoQueue(milliseconds: Int64, seed: UInt64) {
    let link = Self.path {
      $0.bitsPerSecond = 3_000_000
      $0.queueMilliseconds = 400
      $0.gate = .milliseconds(milliseconds)
    }
    var run = SharedRun(link: link, seed: seed)
    run.call.feedbackBatch = .milliseconds(milliseconds)
    run.run(seconds: 20)
    run.call.link.bitsPerSecond = 600_000
    run.run(seconds: 20)
    run.call.link.bitsPerSecond = 3_000_000
    run.run(seconds: 25)
    #expect(Mean(run.seconds[45...]).targetKbps > 500, "\(run.seconds.map(\.targetKbps))")
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func whenADownloadEndsThePathIsUsedAgain(seed: UInt64) {
    let link = Self.path {
      $0.bitsPerSecond = 2_000_000
      $0.queueMilliseconds = 150
    }
    var run = SharedRun(link: link, flows: 1, seed: seed)
    run.flowsBegin = .milliseconds(8000)
    run.run(seconds: 35)
    run.flows = []
    run.run(seconds: 25)
    #expect(Mean(run.seconds[55...]).targetKbps > 900, "\(run.seconds[35...].map(\.targetKbps))")
    #expect(run.freezes(from: 36).isEmpty)
    let delays = run.call.latencies.filter { $0.at >= .zero + .seconds(40) }.map(\.milliseconds).sorted()
    #expect(delays[delays.count * 95 / 100] < 100)
  }

  /// Away from the access point: it becomes slower all the time, and loses some. Nobody else is there.
  @Test(arguments: [0.02, 0.05], [1, 2, 3] as [UInt64]) func aPathThatBecomesSlowerIsNotTakenForAShared(
    loss: Double, seed: UInt64
  ) {
    let link = Self.path {
      $0.bitsPerSecond = 3_000_000
      $0.queueMilliseconds = 300
      $0.loss = loss
    }
    var run = SharedRun(link: link, seed: seed)
    run.run(seconds: 10)
    for _ in 0..<20 {
      run.run(seconds: 1)
      run.call.link.bitsPerSecond *= 0.9
    }
    run.run(seconds: 20)
    #expect(run.freezes(from: 10).reduce(0, +) < 4000, "\(run.freezes(from: 10))")
    #expect(Mean(run.seconds[40...]).lost < loss + 0.12)
  }

  /// Another way through the Internet, with the same addresses at its ends.
  @Test(arguments: [50, 120]) func aPathThatBecomesLongerIsNoQueue(milliseconds: Int) {
    var run = SharedRun(link: Self.path())
    run.run(seconds: 30)
    let before = run.call.targetKbps
    let requests = run.call.rig.keyFrameRequests.count
    run.call.link.delay += .milliseconds(milliseconds)
    run.run(seconds: 15)
    let after = run.seconds[30...].map(\.targetKbps)
    #expect(after.dropFirst(5).allSatisfy { $0 * 10 >= before * 9 }, "\(after)")
    #expect(run.call.rig.keyFrameRequests.count == requests)
    #expect(run.freezes(from: 29).isEmpty)
  }

  /// Relay to direct, Wi-Fi to cable: ICE says so.
  @Test func aNewPathIsMeasuredFromScratch() {
    var run = SharedRun(link: Self.path { $0.bitsPerSecond = 400_000 })
    run.run(seconds: 20)
    #expect(run.call.targetKbps < 500)
    run.call.link = Self.path { $0.delay = .milliseconds(80) }
    run.call.rig.sender.beginNewPath(now: run.call.now)
    #expect(run.call.targetKbps < 500)
    run.run(seconds: 3)
    #expect(run.call.targetKbps > 1500)
    #expect(run.freezes(from: 19).isEmpty)
  }

  /// And never more than at the start: it may be narrow.
  @Test func aNewPathBeginsNoFasterThanACallDoes() {
    var run = SharedRun(link: Self.path())
    run.run(seconds: 10)
    #expect(run.call.targetKbps > 2000)
    run.call.rig.sender.beginNewPath(now: run.call.now)
    #expect(run.call.targetKbps == 1500)
  }

  /// A radio that sleeps delivers all of 150 ms at once.
  @Test(arguments: [100, 150, 250], [1, 2] as [UInt64])
  func aRadioThatSleepsIsFollowed(milliseconds: Int, seed: UInt64) {
    var run = SharedRun(link: Self.path { $0.batch = .milliseconds(milliseconds) }, seed: seed)
    run.run(seconds: 20)
    #expect(Mean(run.seconds[5...]).targetKbps > 1500)
    run.call.link.bitsPerSecond = 800_000
    run.run(seconds: 20)
    let low = run.seconds[23..<40].map(\.targetKbps)
    #expect(low.allSatisfy { (200...1000).contains($0) } && Mean(run.seconds[23..<40]).targetKbps > 450, "\(low)")
    run.call.link.bitsPerSecond = 5_000_000
    run.run(seconds: 12)
    #expect(run.call.targetKbps > 1500, "\(run.seconds[40...].map(\.targetKbps))")
    #expect(run.freezes(from: 22, over: 500).isEmpty, "\(run.freezes(from: 22))")
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func aRateThatFallsAndComesBackIsFollowed(seed: UInt64) {
    let link = Self.path {
      $0.bitsPerSecond = 3_000_000
      $0.queueMilliseconds = 400
    }
    var run = SharedRun(link: link, seed: seed)
    run.run(seconds: 20)
    run.call.link.bitsPerSecond = 500_000
    run.run(seconds: 20)
    #expect(run.freezes(from: 22, over: 500).isEmpty)
    run.call.link.bitsPerSecond = 3_000_000
    run.run(seconds: 6)
    #expect(run.call.targetKbps > 2000)
  }
}
