public import Control
public import Wire

/// Turns what the machine's checks find again and again into one event when something begins, and one when it is over.
/// Pure.
public struct HealthLog: Sendable {
  /// What a child depends on besides its devices. The raw value is the `id` of the events.
  public enum Concern: String, CaseIterable, Sendable {
    /// Space of the file system that keeps the child's state, and whether it can be written.
    case storage
    case temperature
    /// The board's voltage.
    case power
    /// The strength of the Wi-Fi signal.
    case wireless
    case clock

    /// For people.
    fileprivate var words: String {
      switch self {
      case .storage: "Storage"
      case .temperature: "Temperature"
      case .power: "Power supply"
      case .wireless: "Wi-Fi"
      case .clock: "Clock"
      }
    }

    /// It counts when it has stood for so long.
    fileprivate var patience: Duration {
      switch self {
      case .storage, .temperature, .power: .zero
      // Somebody stands in the way.
      case .wireless: .seconds(60)
      // A board without a battery for its clock sets it some time after it has started.
      case .clock: .seconds(900)
      }
    }
  }

  /// Something that is not as it should be.
  public struct Condition: Hashable, Sendable {
    public var concern: Concern
    public var level: EventLevel
    /// For people.
    public var detail: String

    /// Where it is shown alone: `Clock: the date is years in the past`.
    public var sentence: String { "\(concern.words): \(detail)" }

    public init(_ concern: Concern, _ level: EventLevel, _ detail: String) {
      self.concern = concern
      self.level = level
      self.detail = detail
    }
  }

  public enum Change: Hashable, Sendable {
    /// It begins, or becomes worse.
    case begins(Condition)
    /// `after` counts from the beginning to the last time that it was found.
    case over(Concern, after: Duration)
  }

  private struct Known: Sendable {
    var since: Instant
    var last: Instant
    /// The level last reported; nil before.
    var reported: EventLevel?
  }

  /// What comes and goes, as a board at its limit of temperature, is one event.
  public static let calm: Duration = .seconds(900)

  private var known: [Concern: Known] = [:]

  public init() {}

  /// - Parameter conditions: everything that a check has found; one for each concern counts, the gravest.
  public mutating func note(_ conditions: [Condition], now: Instant) -> [Change] {
    Concern.allCases.compactMap { concern in
      let worst = conditions.filter { $0.concern == concern }.max { $0.level < $1.level }
      return worst.map { found($0, now) } ?? missed(concern, now)
    }
  }

  private mutating func found(_ condition: Condition, _ now: Instant) -> Change? {
    var state = known[condition.concern] ?? Known(since: now, last: now)
    state.last = now
    defer { known[condition.concern] = state }
    guard now - state.since >= condition.concern.patience, state.reported.map({ $0 < condition.level }) ?? true else {
      return nil
    }
    state.reported = condition.level
    return .begins(condition)
  }

  private mutating func missed(_ concern: Concern, _ now: Instant) -> Change? {
    guard let state = known[concern] else { return nil }
    guard state.reported != nil else {
      known[concern] = nil
      return nil
    }
    guard now - state.last >= Self.calm else { return nil }
    known[concern] = nil
    return .over(concern, after: state.last - state.since)
  }
}
