import Wire

/// How long packets shall wait. The jitter asks for as much as the slow packets are slower than the fast ones; losses
/// ask for as much as it takes until what makes up for them is here.
struct AudioJitterBufferTarget: Sendable {
  var delays: DelayEstimate
  /// How long a retransmission takes from the request on; nil if there is none.
  var recoveryTime: Duration? { didSet { update() } }
  /// Nanoseconds: the length of the stream's packets.
  var packetTime: Int64 { didSet { if packetTime != oldValue { update() } } }
  /// Nanoseconds.
  private(set) var value: Int64
  /// Nanoseconds, without the configured bounds.
  private(set) var unbounded: Int64

  private let configuration: AudioJitterBufferConfiguration
  /// The share of packets that did not come by themselves, over the last few hundred.
  private var lossShare = 0.0
  private var isLossy = false
  /// Packets until we no longer believe that the sender sends copies of the packet before.
  private var redundancyCredit = 0

  /// One loss in 256 packets moves the share by this; it takes two in some seconds to wait for what got lost.
  private static let lossWeight = 1.0 / 256
  private static let lossyAbove = 0.006
  private static let losslessBelow = 0.002
  /// 10 s of 20 ms packets. Opus leaves the copy out where it would not be heard.
  private static let redundancyMemory = 500

  init(configuration: AudioJitterBufferConfiguration, packetTime: Int64) {
    self.configuration = configuration
    self.packetTime = packetTime
    delays = DelayEstimate(maximum: configuration.maximumDelay)
    value = configuration.initialDelay.nanoseconds
    unbounded = value
    update()
  }

  /// The smallest step by which the delay is made longer.
  var step: Int64 { min(packetTime, 20_000_000) }

  mutating func noteArrival(transit: Int64, now: Instant) {
    let before = (delays.quantile, delays.isSettled)
    delays.add(transit: transit, at: now)
    if before != (delays.quantile, delays.isSettled) { update() }
  }

  /// Each packet whose time has come, and those that came not at all.
  mutating func notePlayed(isLoss: Bool, bringsRedundancy: Bool) {
    lossShare += ((isLoss ? 1 : 0) - lossShare) * Self.lossWeight
    let hadRedundancy = redundancyCredit > 0
    redundancyCredit = bringsRedundancy ? Self.redundancyMemory : max(0, redundancyCredit - 1)
    let wasLossy = isLossy
    isLossy = lossShare > (isLossy ? Self.losslessBelow : Self.lossyAbove)
    if isLossy != wasLossy || hadRedundancy != (redundancyCredit > 0) { update() }
  }

  private mutating func update() {
    let least = delays.isSettled ? 0 : configuration.initialDelay.nanoseconds
    let jitter = max(least, delays.quantile ?? 0)
    unbounded = jitter + lossMargin(above: jitter)
    value = max(min(unbounded, configuration.maximumDelay.nanoseconds), configuration.minimumDelay.nanoseconds)
  }

  /// A loss shows when the packet after it is here; a copy comes with that one, a retransmission some time later. Half a
  /// step more, because the delay is let go so far below the target.
  private func lossMargin(above jitter: Int64) -> Int64 {
    guard isLossy else { return 0 }
    let noticed = packetTime + step / 2
    if let recoveryTime {
      let (margin, overflow) = noticed.addingReportingOverflow(max(0, recoveryTime.nanoseconds))
      let room = configuration.maximumRecoveryDelay.nanoseconds - jitter
      if !overflow, margin <= room { return margin }
    }
    return redundancyCredit > 0 ? noticed : 0
  }
}
