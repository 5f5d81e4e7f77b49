/// The fast Fourier transform of complex numbers (Cooley and Tukey, radix 2).
struct FourierTransform: Sendable {
  let count: Int
  private let cosines: [Float]
  private let sines: [Float]

  /// - Parameter count: a power of two from 4 on.
  init(_ count: Int) {
    self.count = count
    let turn = UnitCircle.table(count)
    cosines = turn.map(\.cosine)
    sines = turn.map(\.sine)
  }

  /// In place, both of `count` elements. The inverse is not divided by `count`.
  func transform(_ real: inout [Float], _ imaginary: inout [Float], isInverse: Bool = false) {
    precondition(real.count == count && imaginary.count == count, "one length")
    var mirrored = 0
    for index in 0..<count {
      if index < mirrored {
        real.swapAt(index, mirrored)
        imaginary.swapAt(index, mirrored)
      }
      var bit = count >> 1
      while bit > 0, mirrored & bit != 0 {
        mirrored ^= bit
        bit >>= 1
      }
      mirrored |= bit
    }
    let sign: Float = isInverse ? 1 : -1
    var half = 1
    while half < count {
      let stride = count / (2 * half)
      for offset in 0..<half {
        let cosine = cosines[offset * stride]
        let sine = sign * sines[offset * stride]
        var low = offset
        while low < count {
          let high = low + half
          let x = real[high] * cosine - imaginary[high] * sine
          let y = real[high] * sine + imaginary[high] * cosine
          real[high] = real[low] - x
          imaginary[high] = imaginary[low] - y
          real[low] += x
          imaginary[low] += y
          low += 2 * half
        }
      }
      half *= 2
    }
  }
}
