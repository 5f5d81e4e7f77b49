public import Wire

/// Makes one record of each minute: how loud the room was, whether the microphone delivered, and who demonstrably received
/// fresh sound. Call it once a second.
public struct MinuteRecorder: Sendable {
  /// One viewer's session.
  public struct Listener: Hashable, Sendable {
    /// Of the session; unique.
    public var id: String
    public var name: String
    /// Sound packets that its receiver reports have proved to have arrived, since the session began.
    public var received: UInt64

    public init(id: String, name: String, received: UInt64) {
      self.id = id
      self.name = name
      self.received = received
    }
  }

  /// What a second brought.
  public struct Second: Hashable, Sendable {
    /// Minutes that are over.
    public var minutes: [MinuteRecord] = []
    /// Somebody received fresh sound.
    public var isHeard = false
    /// How far the wall clock was set, in seconds, if it was.
    public var clockStep: Double?
  }

  /// A second of sound in packets of 20 ms: what proves that somebody heard something of a minute.
  public static let proof: UInt64 = 50
  /// Seconds of a minute without samples that still count as delivered, as when a device is opened again.
  public static let tolerated = 5
  /// The wall clock may be corrected by so many seconds without being set: above what NTP slews in a minute.
  public static let clockTolerance = 10.0
  /// Names of one minute; a child has fewer viewers.
  public static let maximumListeners = 32

  private struct Current {
    var minute: Int64
    var silentSeconds = 0
    var peak = -Double.infinity
    var sum = 0.0
    var count = 0
    /// Packets received, by name.
    var received: [String: UInt64] = [:]
  }

  private var current: Current?
  private var last: (unix: Double, now: Instant)?
  private var captured: UInt64?
  private var before: [String: UInt64] = [:]

  public init() {}

  /// A level, dB relative to full scale.
  public mutating func note(levelDb: Double) {
    guard levelDb.isFinite, var minute = current else { return }
    minute.peak = max(minute.peak, levelDb)
    minute.sum += levelDb
    minute.count += 1
    current = minute
  }

  /// - Parameters:
  ///   - unix: seconds since 1970-01-01 UTC.
  ///   - captured: the microphone's counter, which advances while it delivers.
  public mutating func second(unix: Double, now: Instant, captured: UInt64, listeners: [Listener]) -> Second {
    var result = Second()
    if let last {
      let step = unix - last.unix - (now - last.now).inSeconds
      if abs(step) > Self.clockTolerance {
        result.clockStep = step
        if let record = finish() { result.minutes.append(record) }
      }
    }
    last = (unix, now)
    let minute = Int64(exactly: (unix / 60).rounded(.down)) ?? 0
    if let current, current.minute != minute, let record = finish() { result.minutes.append(record) }
    if current == nil { current = Current(minute: minute) }

    // The first second has nothing to compare with.
    let isDelivering = self.captured.map { $0 != captured } ?? true
    self.captured = captured
    if !isDelivering { current?.silentSeconds += 1 }

    var counters: [String: UInt64] = [:]
    for listener in listeners.prefix(Self.maximumListeners) {
      counters[listener.id] = listener.received
      let earlier = before[listener.id] ?? 0
      guard listener.received > earlier, isDelivering else { continue }
      result.isHeard = true
      current?.received[listener.name, default: 0] += listener.received - earlier
    }
    before = counters
    return result
  }

  /// The minute that has begun, cut short; nil when there is none. Call it at the end.
  public mutating func finish() -> MinuteRecord? {
    guard let current else { return nil }
    self.current = nil
    let isMeasured = current.count > 0
    let mean = isMeasured ? current.sum / Double(current.count) : 0
    return MinuteRecord(
      minute: current.minute, isDelivered: current.silentSeconds <= Self.tolerated && isMeasured,
      peak: isMeasured ? Self.tenths(current.peak) : nil, mean: isMeasured ? Self.tenths(mean) : nil,
      listeners: current.received.filter { $0.value >= Self.proof }.keys.sorted())
  }

  private static func tenths(_ level: Double) -> Int16 {
    Int16(exactly: (min(100, max(-200, level)) * 10).rounded()) ?? 0
  }
}
