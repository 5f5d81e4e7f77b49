import Control
import Testing

@testable import Parent

@Suite struct ReportPictureTests {
  static func report(timeline: ReportDocument.Timeline?, from: Double = 1_795_280_400) -> ReportDocument {
    ReportDocument(
      from: from, to: from + 57_600, minutes: 960, recordedMinutes: 950, monitoredMinutes: 900,
      parents: [.init(name: "Ada", minutes: 900)],
      longestGap: .init(from: from + 600, to: from + 1800, causes: ["link", "of a newer child"]),
      gaps: [.init(from: from + 600, to: from + 1800, causes: ["link", "of a newer child"])],
      noise: .init(minutes: 3, thresholdDb: -45, loudestDb: -12.5),
      losses: [.init(device: "camera", id: "cot", from: from + 60)],
      alarms: [.init(name: "Ada", kind: "link", level: "alarm", began: from, acknowledgedAt: from + 20)], proofs: [],
      restarts: 0, reconnects: 0, timeline: timeline)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

  @Test func aNightIsAPicture() throws {
    let timeline = ReportDocument.Timeline(
      levels: (0..<960).map { $0 % 100 - 2 }, listeners: [.init(name: "Ada", runs: [10, 900, 50])])
    let png = try ReportPicture.png(Self.report(timeline: timeline))
    #expect(png.starts(with: [0x89, 0x50, 0x4e, 0x47]))
    #expect(Self.number(png[16..<20]) == 1600 && Self.number(png[20..<24]) > 300)
    #expect(png.suffix(8).prefix(4) == [0x49, 0x45, 0x4e, 0x44])
    let other = try ReportPicture.png(
      Self.report(timeline: .init(levels: timeline.levels, listeners: [.init(name: "Ada", runs: [0, 960])])))
    #expect(png != other)
  }

  @Test func withoutATimeLineThereIsNone() {
    #expect(throws: ParentError.self) { try ReportPicture.png(Self.report(timeline: nil)) }
  }

  /// What a child sends may be any numbers.
  @Test(arguments: [Double(Int64.min), -1, 0, .greatestFiniteMagnitude])
  func hostileNumbersAreHarmless(number: Double) {
    var report = Self.report(
      timeline: .init(
        levels: [.max, .min, -1, 0], listeners: [.init(name: "\u{1b}[2J", runs: [.max, .max, .min, -5, 7])]),
      from: number)
    _ = try? ReportPicture.png(report)
    report.to = number + 1e9
    report.gaps = [.init(from: -number, to: .infinity, causes: [])]
    report.noise.thresholdDb = .nan
    _ = try? ReportPicture.png(report)
    #expect(!report.rows.isEmpty)
    report.minutes = .max
    report.recordedMinutes = .min
    #expect(!report.rows.isEmpty)
    // An hour's line for each of 10^14 hours.
    report = Self.report(timeline: .init(levels: [1, 2], listeners: []), from: 0)
    report.to = 1e18
    #expect(throws: ParentError.self) { try ReportPicture.png(report) }
  }

  @Test func theTextSaysWhatThereIsToKnow() {
    let text = Self.report(timeline: nil).rows.map { $0.joined(separator: " ") }.joined(separator: "\n")
    for words in [
      "15 h 0 min, 93.8 %", "Ada: 15 h 0 min", "longest gap 20 min", "a link was lost, of a newer child",
      "3 min above -45.0 dB, the loudest -12.5 dB", "camera cot", "not back", "acknowledged after 0:20",
      "no test of hearing", "child off 10 min",
    ] {
      #expect(text.contains(words), "\(words) in\n\(text)")
    }
  }
}
