import Control
import JSON

/// The numbers of a child's documents: any that JSON can hold, in any of their places, on the way to a parent's screen.
enum DocumentNumbersFuzz: FuzzBody {
  static let name = "document numbers"

  /// The number of a message, then for each place its number and the eight bytes of a double.
  static let seeds: [[UInt8]] = ChildDocuments.messages.indices.flatMap { message in
    [0.0, -1, 1, 1e18, -1e300, 253_402_300_799, .leastNonzeroMagnitude].enumerated().map { place, number in
      [UInt8(message), UInt8(place)] + (0..<8).map { UInt8(truncatingIfNeeded: number.bitPattern >> ($0 * 8)) }
    }
  }

  static func run(_ input: [UInt8]) {
    guard let first = input.first else { return }
    var json = ChildDocuments.messages[Int(first) % ChildDocuments.messages.count]
    let count = ChildDocuments.numbers(json).count
    var rest = input.dropFirst()
    while count > 0, rest.count >= 9, let place = rest.popFirst() {
      let bits = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      rest = rest.dropFirst(8)
      json = ChildDocuments.replacing(Int(place) % count, of: json, with: Double(bitPattern: bits))
    }
    guard let message = ChildDocuments.read(json) else { return }
    // A picture takes its time.
    _ = ChildDocuments.show(message, draws: first.isMultiple(of: 16))
  }
}
