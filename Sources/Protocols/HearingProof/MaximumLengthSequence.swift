/// A maximum-length sequence from a linear feedback shift register (Golomb, Shift Register Sequences): as long as the
/// register allows, and like no shifted copy of itself. That is what makes it easy to find in noise.
enum MaximumLengthSequence {
  /// 2^10 - 1.
  static let length = 1023

  /// The chips, 1 and -1. The feedback is x^10 + x^7 + 1, which is primitive.
  static let chips: [Float] = {
    var register: UInt16 = 1
    var chips: [Float] = []
    chips.reserveCapacity(length)
    for _ in 0..<length {
      chips.append(register & 1 == 1 ? 1 : -1)
      let bit = (register ^ (register >> 3)) & 1
      register = (register >> 1) | (bit << 9)
    }
    return chips
  }()
}
