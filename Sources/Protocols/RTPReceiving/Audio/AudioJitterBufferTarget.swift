import Wire

/// Computes the target delay. Jitter requires the difference between slow and fast packets; loss requires the time
/// until a lost packet is recovered.
struct AudioJitterBufferTarget: Sendable {
  var delays: DelayEstimate
  /// How long it takes to recover a lost packet once the loss is noticed; nil if that is not possible.
  var recoveryTime: Duration? { didSet { update() } }
  /// Nanoseconds, within the configured bounds: for pictures that come later, or a listener who wants it.
  var leastDelay: Int64 = 0 { didSet { if leastDelay != oldValue { update() } } }
  /// Duration of the stream's packets in nanoseconds.
  var packetTime: Int64 { didSet { if packetTime != oldValue { update() } } }
  /// Nanoseconds.
  private(set) var value: Int64
  /// Nanoseconds, without the configured bounds.
  private(set) var unbounded: Int64

  private let configuration: AudioJitterBufferConfiguration
  /// Fraction of packets that were lost or recovered, over the last few hundred.
  private var lossShare = 0.0
  private var isLossy = false
  /// Packets until we assume that the sender no longer sends copies of the preceding packet.
  private var redundancyCredit = 0

  /// One loss moves the fraction by this; lost packets are waited for only after two within some seconds.
  private static let lossWeight = 1.0 / 256
  private static let lossyAbove = 0.006
  private static let losslessBelow = 0.002
  /// 10 s of 20 ms packets. Opus omits the copy where it would be inaudible.
  private static let redundancyMemory = 500

  init(configuration: AudioJitterBufferConfiguration, packetTime: Int64) {
    self.configuration = configuration
    self.packetTime = packetTime
    delays = DelayEstimate(maximum: configuration.maximumDelay)
    value = configuration.initialDelay.nanoseconds
    unbounded = value
    update()
  }

  /// The smallest step by which the delay is increased.
  var step: Int64 { min(packetTime, 20_000_000) }

  mutating func noteArrival(transit: Int64, now: Instant) {
    let before = (delays.quantile, delays.isSettled)
    delays.add(transit: transit, at: now)
    if before != (delays.quantile, delays.isSettled) { update() }
  }

  /// Records a packet whose time has come, or one that never arrived.
  mutating func notePlayed(isLoss: Bool, bringsRedundancy: Bool) {
    lossShare += ((isLoss ? 1 : 0) - lossShare) * Self.lossWeight
    let hadRedundancy = redundancyCredit > 0
    redundancyCredit = bringsRedundancy ? Self.redundancyMemory : max(0, redundancyCredit - 1)
    let wasLossy = isLossy
    isLossy = lossShare > (isLossy ? Self.losslessBelow : Self.lossyAbove)
    if isLossy != wasLossy || hadRedundancy != (redundancyCredit > 0) { update() }
  }

  private mutating func update() {
    let initial = delays.isSettled ? 0 : configuration.initialDelay.nanoseconds
    let jitter = max(initial, delays.quantile ?? 0)
    unbounded = jitter + lossMargin(above: jitter)
    let least = max(leastDelay, configuration.minimumDelay.nanoseconds)
    value = min(max(unbounded, least), max(configuration.maximumDelay, configuration.minimumDelay).nanoseconds)
  }

  /// A loss is noticed when the next packet arrives; a copy comes with that one, a retransmission some time later. Half
  /// a step is added because the delay may fall this far below the target.
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
