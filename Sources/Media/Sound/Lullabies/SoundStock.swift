/// Samples queued for playback, in a ring buffer of fixed size.
public struct SoundStock: Sendable {
  private var storage: [Float]
  private var start = 0
  public private(set) var count = 0

  /// Holds up to `capacity` samples.
  public init(capacity: Int) {
    storage = [Float](repeating: 0, count: max(1, capacity))
  }

  /// Free space in samples.
  public var room: Int { storage.count - count }

  /// Appends as many as fit.
  public mutating func append(_ samples: ArraySlice<Float>) {
    var position = (start + count) % storage.count
    for sample in samples.prefix(room) {
      storage[position] = sample
      position = position + 1 == storage.count ? 0 : position + 1
    }
    count += min(samples.count, room)
  }

  /// Removes up to the array's length; zeros after the last. Returns how many there were.
  public mutating func take(into samples: inout [Float]) -> Int {
    let taken = min(count, samples.count)
    for index in samples.indices {
      guard index < taken else {
        samples[index] = 0
        continue
      }
      samples[index] = storage[start]
      start = start + 1 == storage.count ? 0 : start + 1
    }
    count -= taken
    return taken
  }
}
