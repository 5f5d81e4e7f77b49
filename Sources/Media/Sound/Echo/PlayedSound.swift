internal import Frames
internal import Wire

/// The speaker's recent and upcoming samples, with their times.
struct PlayedSound: Sendable {
  /// A power of two: 0.68 s, more than any device buffers.
  private static let capacity = 1 << 15
  private static let rate = Double(AudioFormat.sampleRate)
  /// A device that is off by more than this was reopened or suspended.
  private static let jump: Duration = .milliseconds(50)
  /// Devices report in steps of up to 10 ms; the time is averaged over this many reports, over fewer at the beginning.
  private static let smoothing: Int64 = 64
  /// -70 dBFS: a room returns nothing below that.
  private static let audible: UInt16 = 10

  private var storage = [Int16](repeating: 0, count: capacity)
  /// Samples so far: the position of the next one.
  private(set) var end = 0
  /// The start of this run: nothing before it can be read.
  private var start = 0
  /// When the sample at `end` is heard.
  private var endTime: Instant?
  private var reports: Int64 = 0
  /// When the last audible sound has been heard.
  private(set) var audibleUntil: Instant?

  mutating func append(_ samples: [Int16], heardAt: Instant) {
    var place = endTime ?? heardAt
    let difference = heardAt - place
    if difference > Self.jump || Self.jump < .zero - difference {
      start = end
      reports = 0
      place = heardAt
    } else {
      reports = min(Self.smoothing, reports + 1)
      place += .nanoseconds(difference.nanoseconds / reports)
    }
    var isAudible = false
    for sample in samples {
      storage[end & (Self.capacity - 1)] = sample
      end += 1
      isAudible = isAudible || sample.magnitude > Self.audible
    }
    let next = place + .nanoseconds(Int64(Double(samples.count) / Self.rate * 1e9))
    endTime = next
    if isAudible { audibleUntil = next }
  }

  /// The (fractional) position of the sound heard at a time; it may be before the first sample or after the last.
  func position(at time: Instant) -> Double? {
    endTime.map { Double(end) + (time - $0).inSeconds * Self.rate }
  }

  /// Fills the array from a position on; zeros where there is nothing. `step` is the distance between samples.
  func read(from position: Double, step: Double, into samples: inout [Int16]) {
    let first = max(start, end - Self.capacity)
    for index in samples.indices {
      let place = position + Double(index) * step
      let whole = Int(place.rounded(.down))
      guard whole > first, whole + 2 < end else {
        samples[index] = 0
        continue
      }
      samples[index] = interpolated(at: whole, Float(place - Double(whole)))
    }
  }

  /// Cubic interpolation over the two samples before and the two after (Catmull and Rom).
  private func interpolated(at whole: Int, _ part: Float) -> Int16 {
    let mask = Self.capacity - 1
    let before = Float(storage[(whole - 1) & mask])
    let here = Float(storage[whole & mask])
    let next = Float(storage[(whole + 1) & mask])
    let after = Float(storage[(whole + 2) & mask])
    let slope = next - before
    let bend = 2 * before - 5 * here + 4 * next - after
    let turn = 3 * (here - next) + after - before
    let value = here + 0.5 * part * (slope + part * (bend + part * turn))
    return Int16(min(32767, max(-32768, value.rounded())))
  }
}
