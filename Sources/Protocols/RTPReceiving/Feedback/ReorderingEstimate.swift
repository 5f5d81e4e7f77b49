/// How long to wait for reordered packets before requesting them. Zero, unless most gaps fill by themselves.
struct ReorderingEstimate: Sendable {
  /// Fraction of recent gaps that filled without a request, 0...1.
  private var share = 0.0
  private var lateness = Duration.zero

  private static let weight = 0.125

  /// A missing packet arrived by itself, this much later than the first one after it.
  mutating func noteReordered(by lateness: Duration) {
    share += (1 - share) * Self.weight
    self.lateness = self.lateness == .zero ? lateness : self.lateness + (lateness - self.lateness) / 4
  }

  mutating func noteLost() {
    share -= share * Self.weight
  }

  func allowance(maximum: Duration) -> Duration {
    share > 0.5 ? min(maximum, lateness * 3 / 2) : .zero
  }
}
