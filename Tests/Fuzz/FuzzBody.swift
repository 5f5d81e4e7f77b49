import TestSupport

/// One thing that takes bytes from a peer or a file. It may refuse them; it must not trap or hang.
protocol FuzzBody: SendableMetatype {
  static var name: String { get }
  /// Valid inputs to begin from.
  static var seeds: [[UInt8]] { get }
  static func run(_ input: [UInt8])
}

/// Mutates a body's seeds, the same way for the same seed number.
enum Fuzzer {
  static func run<Body: FuzzBody>(_ body: Body.Type, iterations: Int, seed: UInt64 = 1) {
    var random = SeededGenerator(seed: seed)
    let seeds = body.seeds.isEmpty ? [[]] : body.seeds
    seeds.forEach(body.run)
    for _ in 0..<iterations {
      var input = seeds.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&input, seeds: seeds, using: &random) }
      body.run(input)
    }
  }

  private static func mutate(_ input: inout [UInt8], seeds: [[UInt8]], using random: inout SeededGenerator) {
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
      let other = seeds.randomElement(using: &random)!
      input = input[..<position] + other.suffix(Int.random(in: 0...other.count, using: &random))
    }
    if input.count > 65536 { input.removeLast(input.count - 65536) }
  }
}
