internal import Frames
internal import Glibc

/// Plays a melody like a music box: each plucked note rings on over the next ones. Peaks at about -12 dBFS.
public struct MusicBox: SoundSource, Sendable {
  /// Includes the last note's decay and a short pause before a repeat.
  public let length: Int?
  private let strokes: [Stroke]
  private let end: Int
  private var position = 0
  private var next = 0
  private var ringing: [Partial] = []

  private struct Stroke: Sendable {
    var start: Int
    var hertz: Double
  }

  /// The partials of one tooth of the comb: multiples of the pitch, their amplitudes and decay times (seconds).
  private static let colour: [(multiple: Double, amplitude: Double, decay: Double)] = [
    (1, 0.13, 0.9), (2, 0.045, 0.5), (3, 0.015, 0.3), (6.27, 0.012, 0.07),
  ]
  /// A note is removed once it is 80 dB down.
  private static let faded: Float = 1e-8
  private static let ring = 4.0

  public init(_ melody: Melody) {
    let samplesPerEighth = AudioFormat.sampleRate * 60 / melody.eighthsPerMinute
    var time = 0
    strokes = melody.notes.map { note in
      defer { time += note.eighths * samplesPerEighth }
      return Stroke(start: time, hertz: 440 * pow(2, Double(note.key - 69) / 12))
    }
    end = time + Int(Self.ring * Double(AudioFormat.sampleRate))
    length = end
    ringing.reserveCapacity(16 * Self.colour.count)
  }

  public mutating func read(into samples: inout [Float]) -> Int {
    let count = min(samples.count, end - position)
    var done = 0
    while done < count {
      while next < strokes.count, strokes[next].start <= position {
        strike(strokes[next], age: position - strokes[next].start)
        next += 1
      }
      let until = next < strokes.count ? min(count, done + strokes[next].start - position) : count
      for index in done..<until {
        var value: Float = 0
        for partial in ringing.indices { value += ringing[partial].step() }
        samples[index] = value
      }
      position += until - done
      done = until
      ringing.removeAll { $0.power < Self.faded }
    }
    return count
  }

  public mutating func seek(to position: Int) {
    self.position = min(max(0, position), end)
    ringing.removeAll(keepingCapacity: true)
    next = strokes.firstIndex { $0.start >= self.position } ?? strokes.count
    // Earlier notes still ring; strike them in their original order.
    for stroke in strokes[..<next] { strike(stroke, age: self.position - stroke.start) }
    ringing.removeAll { $0.power < Self.faded }
  }

  private mutating func strike(_ stroke: Stroke, age: Int) {
    for tone in Self.colour where tone.multiple * stroke.hertz < Double(AudioFormat.sampleRate) / 3 {
      ringing.append(
        Partial(hertz: tone.multiple * stroke.hertz, amplitude: tone.amplitude, decay: tone.decay, age: age))
    }
  }

  /// A decaying sine: a point that rotates around the origin and approaches it.
  private struct Partial: Sendable {
    private var x: Float
    private var y: Float
    private let turnX: Float
    private let turnY: Float

    init(hertz: Double, amplitude: Double, decay: Double, age: Int) {
      let rate = Double(AudioFormat.sampleRate)
      let angle = 2 * Double.pi * hertz / rate
      let shrink = exp(-1 / (decay * rate))
      turnX = Float(shrink * cos(angle))
      turnY = Float(shrink * sin(angle))
      // Starts at zero, so that the stroke does not click.
      let size = amplitude * exp(-Double(age) / (decay * rate))
      x = Float(size * cos(angle * Double(age)))
      y = Float(size * sin(angle * Double(age)))
    }

    var power: Float { x * x + y * y }

    mutating func step() -> Float {
      let value = y
      (x, y) = (x * turnX - y * turnY, x * turnY + y * turnX)
      return value
    }
  }
}
