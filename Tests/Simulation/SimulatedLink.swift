public import TestSupport
internal import Wire

extension SimulatedPair {
  /// What the way in one direction does to datagrams.
  public struct Link: Sendable {
    public var delay: Duration
    /// Added to each datagram's delay by chance, from nothing to all of it; so it also changes their order.
    public var jitter: Duration
    /// Chances, 0...1.
    public var loss: Double
    public var duplication: Double
    /// The chance of being overtaken by everything that is sent within `lateness`.
    public var reordering: Double
    public var lateness: Duration = .milliseconds(30)
    /// What leaves the bottleneck; nil: all at once.
    public var bitsPerSecond: Int?
    /// What may wait at the bottleneck; more is dropped.
    public var queueBytes = 64_000
    public var isCut = false
    /// Loss in runs, besides `loss`.
    public var bursts: GilbertLoss?

    public init(
      delay: Duration = .milliseconds(5), jitter: Duration = .zero, loss: Double = 0, duplication: Double = 0,
      reordering: Double = 0, bitsPerSecond: Int? = nil
    ) {
      (self.delay, self.jitter, self.loss, self.duplication) = (delay, jitter, loss, duplication)
      (self.reordering, self.bitsPerSecond) = (reordering, bitsPerSecond)
    }
  }

  /// A link with what is on it.
  struct Way {
    var link = Link()
    /// When the bottleneck has let everything through that waits now.
    private var busyUntil: Instant = .zero

    init() {}

    /// When the copies of a datagram that is sent now arrive: none, one or two.
    mutating func arrivals(
      of byteCount: Int, now: Instant, random: inout some RandomNumberGenerator
    ) -> [Instant] {
      guard !link.isCut, !happens(link.loss, &random), link.bursts?.loses(&random) != true,
        let leaves = pass(byteCount, now: now)
      else { return [] }
      let copies = happens(link.duplication, &random) ? 2 : 1
      return (0..<copies).map { _ in
        var arrives = leaves + link.delay
        if link.jitter > .zero { arrives += link.jitter * Double.random(in: 0...1, using: &random) }
        if happens(link.reordering, &random) { arrives += link.lateness }
        return arrives
      }
    }

    /// When the bottleneck has let it through; nil when its queue is full.
    private mutating func pass(_ byteCount: Int, now: Instant) -> Instant? {
      guard let rate = link.bitsPerSecond else { return now }
      let wait = busyUntil - now
      guard wait <= .zero || wait.inSeconds * Double(rate) / 8 + Double(byteCount) <= Double(link.queueBytes) else {
        return nil
      }
      busyUntil = max(busyUntil, now) + .nanoseconds(Int64(byteCount) * 8_000_000_000 / Int64(rate))
      return busyUntil
    }

    private func happens(_ chance: Double, _ random: inout some RandomNumberGenerator) -> Bool {
      chance > 0 && Double.random(in: 0..<1, using: &random) < chance
    }
  }
}
