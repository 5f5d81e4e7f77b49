internal import TestSupport

/// Mutates valid inputs, the same way for the same seed number.
public enum Fuzzer {
  /// Longer inputs are cut: a datagram or an HTTP body is no larger.
  private static let maximumBytes = 65536

  /// Runs `body` on its seeds and `more`, and then `iterations` times on what mutation makes of them.
  ///
  /// - Parameter willRun: sees each input before the body does, so that one that traps is not lost.
  /// - Returns: how many inputs the body has seen.
  @discardableResult
  public static func run<Body: FuzzBody>(
    _ body: Body.Type, more: [[UInt8]] = [], iterations: Int, seed: UInt64 = 1,
    willRun: ([UInt8]) -> Void = { _ in }
  ) -> Int {
    var random = SeededGenerator(seed: seed)
    let inputs = body.seeds + more
    for input in inputs {
      willRun(input)
      body.run(input)
    }
    for _ in 0..<iterations {
      var input = inputs.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&input, inputs: inputs, using: &random) }
      willRun(input)
      body.run(input)
    }
    return inputs.count + iterations
  }

  private static func mutate(_ input: inout [UInt8], inputs: [[UInt8]], using random: inout SeededGenerator) {
    guard !input.isEmpty else {
      input = (0..<Int.random(in: 1...64, using: &random)).map { _ in .random(in: 0...255, using: &random) }
      return
    }
    let position = Int.random(in: 0..<input.count, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: input[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: input[position] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &random)!
    case 2: input[position] = .random(in: 0...255, using: &random)
    case 3: input.removeSubrange(position...)
    case 4: input.insert(.random(in: 0...255, using: &random), at: position)
    case 5: input.remove(at: position)
    case 6:
      let end = min(input.count, position + Int.random(in: 1...16, using: &random))
      input.insert(contentsOf: input[position..<end], at: position)
    default:
      guard let other = inputs.randomElement(using: &random) else { return }
      input = input[..<position] + other.suffix(Int.random(in: 0...other.count, using: &random))
    }
    if input.count > maximumBytes { input.removeLast(input.count - maximumBytes) }
  }
}
