/// Loss in runs, as radios have it: Gilbert's model (the Gilbert–Elliott model that loses everything in its bad state and nothing
/// in the good one).
public struct GilbertLoss: Sendable {
  /// Of all packets, 0..<1.
  public var rate: Double
  /// Packets that are lost in a row, on average; at least 1, which is never two in a row.
  public var meanBurst: Double
  private var isBad = false

  public init(rate: Double, meanBurst: Double) {
    precondition((0..<1).contains(rate) && meanBurst >= 1)
    (self.rate, self.meanBurst) = (rate, meanBurst)
  }

  /// Whether the next packet is lost.
  public mutating func loses(_ random: inout some RandomNumberGenerator) -> Bool {
    let chance = isBad ? 1 - 1 / meanBurst : rate / ((1 - rate) * meanBurst)
    isBad = Double.random(in: 0..<1, using: &random) < chance
    return isBad
  }
}
