/// A FIFO of samples in a ring buffer of fixed size.
struct SampleFIFO: Sendable {
  private var storage: [Int16]
  private var start = 0
  private(set) var count = 0

  init(capacity: Int) {
    storage = [Int16](repeating: 0, count: capacity)
  }

  /// Appends; drops the oldest when there is no room. Returns how many samples were lost.
  mutating func append(_ samples: [Int16]) -> Int {
    let new = samples.suffix(storage.count)
    let lost = max(0, count + new.count - storage.count)
    drop(lost)
    var position = (start + count) % storage.count
    for sample in new {
      storage[position] = sample
      position = position + 1 == storage.count ? 0 : position + 1
    }
    count += new.count
    return lost + samples.count - new.count
  }

  /// Copies without removing; zeros beyond the end.
  func peek(into samples: inout [Int16]) {
    var position = start
    for index in samples.indices {
      samples[index] = index < count ? storage[position] : 0
      position = position + 1 == storage.count ? 0 : position + 1
    }
  }

  /// Removes `length` samples and resamples them linearly to the array's length; the next read continues from there.
  /// With equal lengths it is a copy.
  mutating func read(into samples: inout [Int16], from length: Int) {
    if length == samples.count {
      peek(into: &samples)
    } else {
      let size = samples.count
      for index in 0..<size {
        let (whole, part) = (index * length).quotientAndRemainder(dividingBy: size)
        let position = (start + whole) % storage.count
        // The sample after the last one belongs to the next read, if it is there.
        let next = whole + 1 < count ? storage[(position + 1) % storage.count] : storage[position]
        let here = storage[position]
        samples[index] = Int16(clamping: Int(here) + (Int(next) - Int(here)) * part / size)
      }
    }
    drop(length)
  }

  mutating func drop(_ length: Int) {
    let length = min(length, count)
    start = (start + length) % storage.count
    count -= length
  }
}
