import TestSupport
import Wire

/// Somebody's download beside the call: TCP with CUBIC (RFC 9438), which always has something to send. What is lost is noticed
/// after a round trip (RFC 8985).
struct CubicFlow {
  /// What has arrived.
  private(set) var deliveredBytes = 0
  /// It never has more packets than this under way: a receiver's window, or the sender's own kernel, which lets a socket have few in its
  /// device's queue. Its queue stands then, without loss.
  var windowLimit = Int.max
  private var window = 10.0
  private var threshold = Double.infinity
  /// RFC 9438 section 4.1: the window before the last loss, and the window as Reno would have it.
  private var largest = 0.0
  private var asReno = 0.0
  private var epoch: Instant?
  private var recoversUntil = Instant.zero
  /// What is under way: when that is known to have arrived or to be lost, in order.
  private var underWay = FIFO<(at: Instant, sentAt: Instant, isLost: Bool)>()
  private var smoothed: Duration?

  private static let segment = 1450
  private static let beta = 0.7
  private static let c = 0.4
  private static let fewest = 2.0
  /// What one loss costs where too little is under way for others to tell: RFC 8985 section 7.3, 2 round trips.
  private static let delayedAcknowledgement = Duration.milliseconds(5)

  /// Called once each millisecond.
  mutating func run(over link: inout Bottleneck, back: Duration, now: Instant, random: inout SeededGenerator) {
    while let first = underWay.first, first.at <= now {
      _ = underWay.popFirst()
      if first.isLost {
        noteLoss(sentAt: first.sentAt, now: now)
      } else {
        deliveredBytes += Self.segment
        let sample = now - first.sentAt
        smoothed = smoothed.map { .nanoseconds(($0.nanoseconds * 7 + sample.nanoseconds) / 8) } ?? sample
        grow(now: now)
      }
    }
    while underWay.count < min(Int(window), windowLimit) {
      let bytes = Self.segment
      let arrival = link.transmit(bytes: bytes, at: now, random: &random)
      let least = smoothed ?? (link.delay + back)
      let known =
        arrival.map { $0 + back } ?? now + .nanoseconds(least.nanoseconds * (window < 4 ? 2 : 5 / 4))
        + Self.delayedAcknowledgement
      let last = underWay.elements.last?.at ?? .zero
      underWay.append((max(known, last), now, arrival == nil))
    }
  }

  private mutating func grow(now: Instant) {
    guard window >= threshold else {
      window += 1
      return
    }
    if epoch == nil {
      epoch = now
      asReno = window
      largest = max(largest, window)
    }
    guard let epoch else { return }
    asReno += 3 * (1 - Self.beta) / (1 + Self.beta) / window
    let k = cubeRoot(largest * (1 - Self.beta) / Self.c)
    let time = (now - epoch).inSeconds - k
    let cubic = Self.c * time * time * time + largest
    if cubic > window, cubic > asReno {
      window += min((cubic - window) / window, 0.5)
    } else {
      window = max(window, asReno)
    }
  }

  private mutating func noteLoss(sentAt: Instant, now: Instant) {
    guard sentAt >= recoversUntil else { return }
    recoversUntil = now
    largest = window < largest ? window * (1 + Self.beta) / 2 : window
    window = max(Self.fewest, window * Self.beta)
    threshold = window
    epoch = nil
  }

  private func cubeRoot(_ value: Double) -> Double {
    var root = max(1, value / 3)
    for _ in 0..<20 { root -= (root * root * root - value) / (3 * root * root) }
    return root
  }
}
