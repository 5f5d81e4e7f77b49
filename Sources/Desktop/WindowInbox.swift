internal import CSDL
public import Frames
internal import Synchronization
internal import Wire

/// From other threads to the window's: the newest picture of each room, what stands over them, and the end.
public final class WindowInbox: Sendable {
  typealias Picture = (frame: VideoFrame, decodedAt: Instant)

  private struct State {
    /// By room.
    var pictures: [Int: Picture] = [:]
    var content: WindowRooms
    var isEnded = false
    var isOpen = false
    var isWoken = false
    var delays = Delays()
  }

  /// Milliseconds from the decoder to the screen, in steps of a tenth up to 100 ms.
  private struct Delays {
    var counts = [UInt32](repeating: 0, count: 1000)
    var total = 0

    mutating func add(_ delay: Duration) {
      counts[min(counts.count - 1, max(0, Int(delay.nanoseconds / 100_000)))] += 1
      total += 1
    }

    func percentile(_ percent: Int) -> Double? {
      guard total > 0 else { return nil }
      var left = (total * percent + 99) / 100
      let step = counts.firstIndex { count in
        left -= Int(count)
        return left <= 0
      }
      return Double(step ?? counts.count) / 10
    }
  }

  private let state: Mutex<State>

  public init(_ content: WindowRooms) {
    state = Mutex(State(content: content))
  }

  /// A picture that has just been decoded. Call from any thread; returns at once.
  public func show(_ frame: VideoFrame, room: Int = 0) {
    let now = MonotonicClock.now
    change { state in
      state.pictures[room] = (frame, now)
      return true
    }
  }

  /// Replaces what stands over the picture. From any thread.
  public func update(_ content: WindowRooms) {
    change { state in
      guard state.content != content else { return false }
      state.content = content
      return true
    }
  }

  /// Closes the window. From any thread.
  public func end() {
    change { state in
      state.isEnded = true
      return true
    }
  }

  /// Milliseconds between a picture's decoding and its being handed to the screen: median and 95th percentile since the
  /// window was opened. Nil before the first.
  public var delay: (p50: Double, p95: Double)? {
    state.withLock { state in
      guard let half = state.delays.percentile(50), let most = state.delays.percentile(95) else { return nil }
      return (half, most)
    }
  }

  private func change(_ body: (inout State) -> Bool) {
    let mustWake = state.withLock { state in
      guard body(&state), state.isOpen, !state.isWoken else { return false }
      state.isWoken = true
      return true
    }
    if mustWake { csdl_wake(sdl) }
  }

  // MARK: The window's side

  func open() { state.withLock { $0.isOpen = true } }
  func close() { state.withLock { $0.isOpen = false } }

  func take() -> (pictures: [Int: Picture], content: WindowRooms, isEnded: Bool) {
    state.withLock { state in
      defer { state.pictures.removeAll(keepingCapacity: true) }
      state.isWoken = false
      return (state.pictures, state.content, state.isEnded)
    }
  }

  func note(delay: Duration) { state.withLock { $0.delays.add(delay) } }
}
