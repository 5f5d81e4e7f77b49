/// A day of the calendar in use, without a time zone.
public struct CalendarDay: Hashable, Sendable, CustomStringConvertible {
  /// Days since 1970-01-01.
  public var number: Int64

  public init(number: Int64) {
    self.number = number
  }

  /// Reads `2026-11-21`; nil for anything else and for days that do not exist.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2],
      parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
      let year = Int64(parts[0]), let month = Int64(parts[1]), let day = Int64(parts[2]),
      (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    self.init(year: year, month: month, day: day)
    guard description == text else { return nil }
  }

  /// Days before the first of March of the year 0 are not needed: years count from March, so that the leap day is the last.
  private init(year: Int64, month: Int64, day: Int64) {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    number = era * 146_097 + dayOfEra - 719_468
  }

  public var description: String {
    let days = number + 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    func digits(_ value: Int64, _ count: Int) -> String {
      let text = "\(value)"
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
  }
}

/// When a night begins and ends, by the clock on the wall.
public struct NightHours: Hashable, Sendable {
  /// Minutes after midnight of the evening's day.
  public var from: Int
  /// Minutes after midnight of the next day; of the same one when it is later than `from`.
  public var to: Int

  /// 18:00 to 10:00: from before the earliest bedtime to after the latest breakfast.
  public static let usual = NightHours(from: 18 * 60, to: 10 * 60)

  public init(from: Int, to: Int) {
    self.from = from
    self.to = to
  }

  /// The night that begins on this day, in seconds since 1970-01-01 UTC. On the nights when the clocks change it is an hour
  /// shorter or longer.
  ///
  /// - Parameter offset: seconds east of Greenwich at a time.
  public func night(of day: CalendarDay, offset: (Int64) -> Int64) -> Range<Int64> {
    let start = Self.utc(day.number * 86_400 + Int64(from) * 60, offset)
    let endDay = to > from ? day.number : day.number + 1
    let end = Self.utc(endDay * 86_400 + Int64(to) * 60, offset)
    return start..<max(start + 60, end)
  }

  /// The day on which the latest night began: the one that is under way, else the last.
  public func latestDay(now: Int64, offset: (Int64) -> Int64) -> CalendarDay {
    let local = now + offset(now)
    let today = CalendarDay(number: (local >= 0 ? local : local - 86_399) / 86_400)
    if night(of: today, offset: offset).lowerBound <= now { return today }
    return CalendarDay(number: today.number - 1)
  }

  /// A local time that the change of the clocks left out is an hour later then; one that comes twice is the first.
  private static func utc(_ local: Int64, _ offset: (Int64) -> Int64) -> Int64 {
    let before = offset(local - 86_400)
    let after = offset(local + 86_400)
    if offset(local - before) == before { return local - before }
    if offset(local - after) == after { return local - after }
    return local - before
  }
}
