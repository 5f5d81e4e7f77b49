/// An alarm that rang at a parent. Times are seconds since 1970-01-01 UTC by the parent's clock.
public struct AlarmNote: ControlCommand {
  public static let name = "alarm.note"
  public static let requirement: Requirement = .watching
  public static let parameters: [ControlParameter] = [
    .text("kind", bytes: ControlLimits.alarmKindBytes, missing: "is missing; it says what was wrong"),
    .word("level", of: EventLevel.self, missing: "is missing; it is notice, warning or alarm"),
    .number("began", in: ControlLimits.unixSeconds, missing: "is missing; it is a time in seconds since 1970"),
    .number("acknowledgedAt", in: ControlLimits.unixSeconds),
  ]
  /// A night without a link has some at once.
  public static let rate: ControlRate? = ControlRate(
    burst: 32, interval: .seconds(20), refusal: "Too many alarm reports; retry later.")

  /// What was wrong, such as `link`.
  public var kind: String
  public var level: EventLevel
  public var began: Double
  /// Nil: it ended before anybody acknowledged it.
  public var acknowledgedAt: Double?

  public init(kind: String, level: EventLevel, began: Double, acknowledgedAt: Double? = nil) {
    self.kind = kind
    self.level = level
    self.began = began
    self.acknowledgedAt = acknowledgedAt
  }

  public func validate() throws(ControlError) {
    guard kind.utf8.allSatisfy({ (97...122).contains($0) || $0 == UInt8(ascii: "-") }) else {
      throw .badParameter("kind", "is of lower case letters and -")
    }
  }

  /// By how much a parent's clock may differ from the child's, in seconds.
  public static let clockTolerance = 300.0

  /// With times that can be, whatever the parent's clock said: nothing rang before it had access, or will ring in the future.
  ///
  /// - Parameters:
  ///   - since: when it got access, as `now` in seconds since 1970-01-01 UTC by the child's clock.
  public func limited(since: Double, now: Double) -> AlarmNote {
    var note = self
    let earliest = min(since, now) - Self.clockTolerance
    note.began = began > now + Self.clockTolerance ? now : max(began, earliest)
    note.acknowledgedAt = acknowledgedAt.map { time in
      max(time > now + Self.clockTolerance ? now : time, note.began)
    }
    return note
  }
}
