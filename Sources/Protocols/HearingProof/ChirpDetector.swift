/// Finds the chirp in sound: a matched filter, normalized by the energy of what it lies over, so that loud sound counts no
/// more than soft sound.
public struct ChirpDetector: Sendable {
  /// A chirp that was found.
  public struct Finding: Hashable, Sendable {
    /// The share of the energy in the band that is the chirp's, 0...1.
    public var share: Double
    /// Where it begins, in samples since the first one.
    public var position: Int
  }

  /// Noise reaches a share s by chance about once in exp(700 s) places: below 1e-12 here. A chirp as loud as 14 dB below
  /// the noise of its band reaches it.
  public static let threshold = 0.04

  /// 48 kHz to 4.8 kHz: two samples a chip.
  private static let decimation = 10
  private static let length = 2 * MaximumLengthSequence.length
  private static let blockCount = 4096
  private static let hop = 2048
  private static let transform = FourierTransform(blockCount)
  /// The conjugate spectrum of the chirp as the front end sees it.
  private static let template: (real: [Float], imaginary: [Float]) = {
    var frontEnd = FrontEnd()
    var real: [Float] = []
    var imaginary: [Float] = []
    let chirp = Chirp.samples(levelDb: Chirp.loudestDb)
    for sample in chirp + [Int16](repeating: 0, count: 200) {
      guard let point = frontEnd.add(sample), real.count < length else { continue }
      real.append(point.real)
      imaginary.append(point.imaginary)
    }
    var energy: Float = 0
    for index in real.indices { energy += real[index] * real[index] + imaginary[index] * imaginary[index] }
    let scale = 1 / energy.squareRoot()
    let rest = [Float](repeating: 0, count: blockCount - real.count)
    real = real.map { $0 * scale } + rest
    imaginary = imaginary.map { $0 * scale } + rest
    transform.transform(&real, &imaginary)
    return (real, imaginary.map { -$0 })
  }()

  private var frontEnd = FrontEnd()
  private var real: [Float] = []
  private var imaginary: [Float] = []
  /// Blocks that have been searched.
  private var searched = 0

  public init() {}

  /// Takes the next samples, 48 kHz; returns the best finding among the places that they complete. Each place is looked at
  /// once, up to 0.5 s after the chirp's end.
  public mutating func add(_ samples: some Sequence<Int16>) -> Finding? {
    var best: Finding?
    for sample in samples {
      guard let point = frontEnd.add(sample) else { continue }
      real.append(point.real)
      imaginary.append(point.imaginary)
      guard real.count == Self.blockCount else { continue }
      if let found = search(), found.share > best?.share ?? Self.threshold { best = found }
      real.removeFirst(Self.hop)
      imaginary.removeFirst(Self.hop)
      searched += 1
    }
    return best
  }

  private func search() -> Finding? {
    var (x, y) = (real, imaginary)
    var energies = [Double](repeating: 0, count: Self.blockCount + 1)
    for index in 0..<Self.blockCount {
      energies[index + 1] = energies[index] + Double(x[index] * x[index] + y[index] * y[index])
    }
    Self.transform.transform(&x, &y)
    let (a, b) = Self.template
    for index in 0..<Self.blockCount {
      let product = x[index] * a[index] - y[index] * b[index]
      y[index] = x[index] * b[index] + y[index] * a[index]
      x[index] = product
    }
    Self.transform.transform(&x, &y, isInverse: true)
    let scale = 1 / Double(Self.blockCount)
    var best: Finding?
    for place in 0..<Self.hop {
      let energy = energies[place + Self.length] - energies[place]
      // Digital silence: less than a thousandth of the least step.
      guard energy > 0.001 * Double(Self.length) else { continue }
      let re = Double(x[place]) * scale
      let im = Double(y[place]) * scale
      let share = (re * re + im * im) / energy
      if share > best?.share ?? Self.threshold {
        best = Finding(share: min(1, share), position: (searched * Self.hop + place) * Self.decimation)
      }
    }
    return best
  }

  /// Moves the carrier to 0 Hz and weighs with a triangle two chips long, which is the shape of the chirp's own chips.
  private struct FrontEnd: Sendable {
    private static let span = 2 * Chirp.samplesPerChip
    private static let weights: [Float] = (0..<span).map { Float(min($0, span - $0)) }

    private var count = 0
    private var real = [Float](repeating: 0, count: span)
    private var imaginary = [Float](repeating: 0, count: span)

    /// A point for each tenth sample.
    mutating func add(_ sample: Int16) -> (real: Float, imaginary: Float)? {
      let turn = Chirp.carrier[count % Chirp.carrier.count]
      let place = count % Self.span
      real[place] = Float(sample) * turn.cosine
      imaginary[place] = -Float(sample) * turn.sine
      count = (count + 1) % (Self.span * Chirp.carrier.count)
      guard count % ChirpDetector.decimation == 0 else { return nil }
      var (x, y): (Float, Float) = (0, 0)
      for index in 0..<Self.span {
        // The oldest is at the place after the newest.
        let oldest = place + 1 + index
        let from = oldest < Self.span ? oldest : oldest - Self.span
        x += Self.weights[index] * real[from]
        y += Self.weights[index] * imaginary[from]
      }
      return (x, y)
    }
  }
}
