/// Points on the unit circle without a mathematics library: angles are halved with square roots.
enum UnitCircle {
  /// cos and sin of k/count of a turn.
  ///
  /// - Parameter count: a power of two from 4 on.
  static func table(_ count: Int) -> [(cosine: Float, sine: Float)] {
    precondition(count >= 4 && count.nonzeroBitCount == 1, "angles are halved")
    // A quarter turn, halved until it is one step.
    var cosine = 0.0
    var sine = 1.0
    var steps = [(cosine, sine)]
    for _ in 0..<(count.trailingZeroBitCount - 2) {
      sine = ((1 - cosine) / 2).squareRoot()
      cosine = ((1 + cosine) / 2).squareRoot()
      steps.append((cosine, sine))
    }
    // The smallest step first: bit i of k turns by steps[i].
    steps.reverse()
    steps.append((-1, 0))
    var points = [(1.0, 0.0)]
    for step in steps {
      points += points.map { ($0.0 * step.0 - $0.1 * step.1, $0.0 * step.1 + $0.1 * step.0) }
    }
    return points.map { (Float($0.0), Float($0.1)) }
  }
}
