/// The retransmission timeout. RFC 9260 section 6.3.1.
struct RetransmissionTimeout: Sendable {
  private(set) var smoothed: Duration?
  private var variation: Duration = .zero
  private var base: Duration
  private var doublings = 0
  private let minimum: Duration
  private let maximum: Duration

  init(_ configuration: SCTPConfiguration) {
    minimum = configuration.minimumRetransmissionTimeout
    maximum = max(configuration.maximumRetransmissionTimeout, minimum)
    base = configuration.initialRetransmissionTimeout
  }

  var current: Duration {
    min(base * (1 << min(doublings, 20)), maximum)
  }

  mutating func measured(_ roundTrip: Duration) {
    let sample = max(roundTrip, .zero)
    if let smoothed {
      let difference = smoothed > sample ? smoothed - sample : sample - smoothed
      variation = (variation * 3 + difference) / 4
      self.smoothed = (smoothed * 7 + sample) / 8
    } else {
      smoothed = sample
      variation = sample / 2
    }
    base = min(max((smoothed ?? sample) + variation * 4, minimum), maximum)
    doublings = 0
  }

  /// RFC 9260 section 6.3.3 rule E2.
  mutating func backOff() {
    doublings = min(doublings + 1, 20)
  }

  /// New data was acknowledged, so the path works. Under heavy loss a new measurement can take long, because only
  /// chunks sent once count (section 6.3.1 rule C5); the backoff is reset without waiting for it.
  mutating func progressed() {
    doublings = 0
  }
}
