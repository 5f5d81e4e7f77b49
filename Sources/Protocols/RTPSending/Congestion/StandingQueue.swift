import Wire

/// How long packets wait on the path: the least one-way delay of the last 100 to 200 ms, less that of the last one to two minutes.
/// The least, because a late scheduler and a radio's jitter delay some packets, a queue all of them. The receiver's clock offset
/// cancels out, and over that time 50 ppm of drift are 6 ms at most.
struct StandingQueue: Sendable {
  enum State: Hashable, Sendable {
    case empty
    /// There is one, too short to send less.
    case short
    /// Packets wait because more is sent than the path carries.
    case standing
  }

  /// Of what arrives in batches, only the last packet of each tells how long the path takes: the least of two batches counts.
  var comesInBatches = false
  /// How long a small packet takes at the present rate. On a narrow path its own transmission looks like a queue, compared with the
  /// time when the path was wide.
  var slackMilliseconds = 0.0
  /// What others keep in the queue, as far as is known. It is no part of `milliseconds`.
  private(set) var othersMilliseconds = 0.0

  private var recent = WindowedMinimum(window: 100_000_000)
  private var batches = WindowedMinimum(window: 200_000_000)
  private var base = WindowedMinimum(window: 60_000_000_000)
  private var last: (sentAt: Int64, arrivedAt: Int64)?
  /// The delay of the empty path, while that of others' queue is taken for it, and until when.
  private var empty: (delay: Double, until: Int64)?

  /// Milliseconds. Active queue management holds a queue of 5 to 20 ms whoever sends (RFC 8033, RFC 8290).
  static let harmless = 25.0
  /// Others' queue swings by less than this share of itself: CUBIC gives way by 30 % of all that is under way (RFC 9438).
  private static let swing = 0.75
  private static let longestSwing = 150.0
  private static let memory: Int64 = 60_000_000_000
  /// Of the others' queue: when no more is left, they are gone.
  private static let gone = 0.15
  /// A clock jumped.
  private static let jump: UInt64 = 3_000_000_000

  /// Packets must be added in the order in which the feedback lists them.
  ///
  /// - Parameter batchBegan: when the first of the batch arrived that it came with; nil: what arrives does not come in batches. The rest of
  ///   a batch waits for what came with it, which is no queue that lasts until the next.
  mutating func add(_ packet: AcknowledgedPacket, batchBegan: Int64? = nil) {
    let (sent, arrived) = (packet.sentAt.nanoseconds, packet.arrivedAt)
    if let last, ((arrived &- last.arrivedAt) &- (sent &- last.sentAt)).magnitude > Self.jump {
      recent.forget()
      batches.forget()
      base.forget()
    }
    last = (sent, arrived)
    let whole = Double(arrived &- sent) / 1e6
    // What would have taken less than the empty path came after the batch.
    let inBatch = batchBegan.map { Double($0 &- sent) / 1e6 }.flatMap { $0 >= base.value ? $0 : nil }
    let delay = inBatch ?? whole
    // By arrival: what was sent within 100 ms may take a second over a path that has become slow.
    recent.add(delay, at: arrived)
    batches.add(delay, at: arrived)
    base.add(whole, at: arrived)
    if let empty, arrived > empty.until || base.value < empty.delay + othersMilliseconds * Self.gone {
      (self.empty, othersMilliseconds) = (nil, 0)
    }
  }

  var milliseconds: Double { max(0, recent.value - base.value) }
  /// The same, of at least two batches where what arrives comes in such.
  var steadyMilliseconds: Double { comesInBatches ? max(0, batches.value - base.value) : milliseconds }

  /// What is no queue of ours, milliseconds.
  var toleratedMilliseconds: Double {
    slackMilliseconds + min(Self.longestSwing, othersMilliseconds * Self.swing)
  }

  var state: State {
    let harmless = Self.harmless + toleratedMilliseconds
    return steadyMilliseconds > harmless ? .standing : steadyMilliseconds > harmless / 2 ? .short : .empty
  }

  /// It is others', or the path has become longer.
  mutating func takeForPath() {
    let delay = empty?.delay ?? base.value
    empty = (delay, (last?.arrivedAt ?? 0) &+ Self.memory)
    othersMilliseconds = max(0, recent.value - delay)
    recent.forget()
    batches.forget()
    base.forget()
  }
}

/// Minimum over the last one to two windows, in constant space.
private struct WindowedMinimum: Sendable {
  private let window: Int64
  private var start: Int64?
  private var current = Double.infinity
  private var previous = Double.infinity

  init(window: Int64) {
    self.window = window
  }

  var value: Double {
    let least = min(current, previous)
    return least.isFinite ? least : 0
  }

  mutating func forget() { (start, current, previous) = (nil, .infinity, .infinity) }

  mutating func add(_ value: Double, at time: Int64) {
    let elapsed = time &- (start ?? time)
    // Reordered, and too old to describe the current path.
    guard elapsed >= -window else { return }
    if start == nil || elapsed >= 2 * window {
      previous = .infinity
      current = .infinity
      start = time
    } else if elapsed >= window {
      previous = current
      current = .infinity
      start = time
    }
    current = min(current, value)
  }
}
