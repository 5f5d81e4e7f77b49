import NightReport
import Testing

@Suite struct NightWindowTests {
  /// Berlin in 2026: summer time from 29 March, 01:00 UTC, to 25 October, 01:00 UTC.
  private static let spring: Int64 = 1_774_746_000
  private static let autumn: Int64 = 1_792_890_000

  private static func berlin(_ unix: Int64) -> Int64 {
    (spring..<autumn).contains(unix) ? 7200 : 3600
  }

  private func night(_ day: String, _ hours: NightHours = .usual) throws -> Range<Int64> {
    hours.night(of: try #require(CalendarDay(day)), offset: Self.berlin)
  }

  @Test(arguments: ["1970-01-01", "2000-02-29", "2026-11-21", "2027-01-01", "2028-02-29", "9999-12-31"])
  func daysAreReadAndWritten(text: String) throws {
    let day = try #require(CalendarDay(text))
    #expect(day.description == text)
    #expect(
      CalendarDay(CalendarDay(number: day.number - 1).description)?.number == day.number - 1 || text == "1970-01-01")
  }

  @Test func theDaysAreThoseOfTheCalendar() {
    #expect(CalendarDay("1970-01-01")?.number == 0)
    #expect(CalendarDay("2026-11-21")?.number == 20_778)
    #expect(CalendarDay(number: -1).description == "1969-12-31")
  }

  @Test(arguments: [
    "", "2026-02-30", "2027-02-29", "2026-13-01", "2026-1-1", "21.11.2026", "2026-11-21 ", "-026-11-21", "２026-11-21",
    "1969-12-31", "2026-11-2１",
  ])
  func whatIsNoDayIsRefused(text: String) {
    #expect(CalendarDay(text) == nil)
  }

  @Test func aNightIsFromEveningToMorning() throws {
    let night = try night("2026-11-21")
    // 17:00 UTC.
    #expect(night.lowerBound == 20_778 * 86_400 + 17 * 3600)
    #expect(night.count == 16 * 3600)
    #expect(try self.night("2026-07-01").count == 16 * 3600)
  }

  @Test func theNightsWhenTheClocksChangeAreShorterAndLonger() throws {
    #expect(try night("2026-03-28").count == 15 * 3600)
    #expect(try night("2026-10-24").count == 17 * 3600)
    // 02:30 is not there in spring, and there twice in autumn.
    let early = NightHours(from: 150, to: 600)
    #expect(try night("2026-03-29", early).lowerBound == Self.spring + 1800)
    #expect(try night("2026-10-25", early).lowerBound == Self.autumn - 1800)
  }

  @Test func anAfternoonIsANightToo() throws {
    #expect(try night("2026-11-21", NightHours(from: 13 * 60, to: 15 * 60)).count == 2 * 3600)
  }

  @Test func theLatestIsTheOneThatHasBegun() throws {
    let day = try #require(CalendarDay("2026-11-21"))
    let midnight = day.number * 86_400 - 3600
    func latest(_ hour: Int64) -> String {
      NightHours.usual.latestDay(now: midnight + hour * 3600, offset: Self.berlin).description
    }
    #expect(latest(3) == "2026-11-20")
    #expect(latest(12) == "2026-11-20")
    #expect(latest(17) == "2026-11-20")
    #expect(latest(18) == "2026-11-21")
    #expect(latest(30) == "2026-11-21")
  }
}
