import Control
import NightReport
import Testing

@Suite struct ReportBuilderTests {
  /// A night of 16 hours in fake time, minute by minute.
  private struct Night {
    static let from: Int64 = 1_795_280_400
    static let to = from + 16 * 3600
    var minutes: [NightMinute] = []
    var events: [EventDocument] = []
    var next = from / 60
    static let names = [1: ["Ada"], 2: ["Ben"], 3: ["Ada", "Ben"]]

    mutating func pass(_ count: Int64, audience: Int = 0, delivered: Bool = true, peak: Int16? = -600) {
      for _ in 0..<count {
        minutes.append(
          NightMinute(minute: next, isDelivered: delivered, peak: peak, mean: peak, audience: audience))
        next += 1
      }
    }

    mutating func skip(_ count: Int64) { next += count }

    /// At the moment that has been reached.
    mutating func note(
      _ kind: String, name: String? = nil, id: String? = nil, detail: String? = nil, level: String? = nil,
      began: Double? = nil, acknowledgedAt: Double? = nil, later seconds: Double = 0,
      count: Int? = nil
    ) {
      events.append(
        EventDocument(
          sequence: UInt64(events.count + 1), kind: kind, level: level, time: Double(next * 60) + seconds, name: name,
          id: id, detail: detail, began: began, acknowledgedAt: acknowledgedAt, count: count))
    }

    func report(now: Int64 = .max / 2, from: Int64 = from, to: Int64 = to) -> ReportDocument {
      var builder = ReportBuilder(from: from, to: to, now: now, noiseDb: -45)
      for minute in minutes { builder.add(minute) }
      return builder.finish(names: Self.names, events: events)
    }
  }

  @Test func aNightThatSomebodyHeardHasNoGap() {
    var night = Night()
    night.pass(480, audience: 1)
    night.pass(480, audience: 3)
    let report = night.report()
    #expect(report.minutes == 960 && report.recordedMinutes == 960 && report.monitoredMinutes == 960)
    #expect(report.parents == [.init(name: "Ada", minutes: 960), .init(name: "Ben", minutes: 480)])
    #expect(report.longestGap == nil && report.gaps.isEmpty)
    #expect(report.timeline?.listeners.map(\.runs) == [[0, 960], [480, 480]])
    #expect(report.timeline?.levels == Array(repeating: 60, count: 960))
  }

  @Test func anEmptyNightIsOneGap() {
    let report = Night().report()
    #expect(report.monitoredMinutes == 0 && report.recordedMinutes == 0 && report.parents.isEmpty)
    #expect(
      report.longestGap
        == .init(from: Double(Night.from), to: Double(Night.to), causes: ["child-off"]))
    #expect(report.noise.minutes == 0 && report.noise.loudestDb == nil)
    #expect(report.timeline?.levels == Array(repeating: -2, count: 960))
  }

  @Test func aNightThatHasNotBegunIsEmpty() {
    let report = Night().report(now: Night.from - 1)
    #expect(report.minutes == 0 && report.longestGap == nil && report.timeline?.levels == [])
  }

  @Test func aNightUnderWayEndsNow() {
    var night = Night()
    night.pass(60, audience: 1)
    let report = night.report(now: Night.from + 3600)
    #expect(report.minutes == 60 && report.monitoredMinutes == 60 && report.gaps.isEmpty)
    #expect(report.to == Double(Night.to))
  }

  @Test func eachGapHasItsCauses() {
    var night = Night()
    night.pass(100, audience: 1)
    night.note("viewer-left", name: "Ada", detail: "link-lost", later: -10)
    night.pass(7)
    night.pass(100, audience: 1)
    night.note("viewer-left", name: "Ada", detail: "left")
    night.pass(5)
    night.pass(100, audience: 1)
    // The parent is there, but the microphone is gone.
    night.note("microphone-lost")
    night.pass(3, audience: 1, delivered: false, peak: nil)
    night.note("microphone-back")
    night.pass(100, audience: 1)
    night.skip(20)
    night.note("restart")
    night.pass(100, audience: 1)
    night.pass(4)
    night.pass(421, audience: 2)
    let report = night.report()
    #expect(report.gaps.map { ($0.to - $0.from) / 60 } == [7, 5, 3, 20, 4])
    #expect(report.gaps.map(\.causes) == [["link"], ["left"], ["microphone"], ["child-off"], ["nobody"]])
    #expect(report.longestGap?.causes == ["child-off"])
    #expect(report.monitoredMinutes == 960 - 39 && report.recordedMinutes == 940)
    #expect(report.restarts == 1)
    #expect(
      report.losses == [
        .init(
          device: "microphone", from: Double(Night.from + 312 * 60), to: Double(Night.from + 315 * 60))
      ])
  }

  /// The minutes that a clock skipped never were.
  @Test func aClockThatIsSetForwardIsNoSwitchedOffChild() {
    var night = Night()
    night.pass(100, audience: 1)
    night.note("clock-set", detail: "by +60 min")
    night.skip(60)
    night.pass(800, audience: 1)
    #expect(night.report().gaps.map(\.causes) == [["clock"]])
  }

  /// A clock that is set back repeats minutes; the store has made one of two already, and here the order is kept.
  @Test func minutesThatComeTwiceCountOnce() {
    var night = Night()
    night.pass(100, audience: 1)
    night.next -= 50
    night.pass(50, audience: 2)
    night.pass(860, audience: 1)
    let report = night.report()
    #expect(report.minutes == 960 && report.monitoredMinutes == 960)
    #expect(report.parents == [.init(name: "Ada", minutes: 960)])
  }

  @Test func noiseIsWhatIsLouderThanTheThreshold() {
    var night = Night()
    night.pass(900, peak: -700)
    night.pass(50, peak: -449)
    night.pass(5, peak: -123)
    // What a broken microphone measures is no noise.
    night.pass(5, delivered: false, peak: -10)
    let noise = night.report().noise
    #expect(noise == .init(minutes: 55, thresholdDb: -45, loudestDb: -12.3))
  }

  @Test func aLossFromBeforeTheNightIsInIt() {
    var night = Night()
    night.note("camera-lost", id: "cot", later: -7200)
    night.note("camera-lost", id: "door", later: -7200)
    night.note("camera-back", id: "door", later: -3600)
    night.pass(10)
    night.note("camera-back", id: "cot")
    night.note("speaker-lost")
    let losses = night.report().losses
    #expect(losses.map(\.device) == ["camera", "speaker"])
    #expect(losses.first?.id == "cot" && losses.first?.to == Double(Night.from + 600))
    #expect(losses.last?.to == nil)
  }

  /// A start finds by itself what is missing.
  @Test func aRestartEndsALoss() {
    var night = Night()
    night.note("camera-lost", id: "cot")
    night.pass(10)
    night.note("restart")
    night.pass(1)
    #expect(night.report().losses.map(\.to) == [Double(Night.from + 600)])
  }

  @Test func alarmsAndProofsAreListed() {
    var night = Night()
    night.pass(1)
    let began = Double(Night.from)
    night.note("alarm", name: "Ada", id: "link", level: "alarm", began: began, acknowledgedAt: began + 20)
    // The answer got lost, so it was told again.
    night.note("alarm", name: "Ada", id: "link", level: "alarm", began: began, acknowledgedAt: began + 20)
    night.note("hearing", name: "Ada", detail: "heard end to end")
    night.note("drill", name: "Ben", detail: "acknowledged")
    night.note("reconnected", name: "Ada")
    night.note("light", name: "Ada")
    let report = night.report()
    #expect(
      report.alarms == [
        .init(name: "Ada", kind: "link", level: "alarm", began: began, acknowledgedAt: began + 20)
      ])
    #expect(report.proofs.map(\.kind) == ["hearing", "drill"])
    #expect(report.reconnects == 1)
  }

  /// Leaves and reconnects that are one event with a count: it is later than what it tells of.
  @Test func whatHappenedSeveralTimesCountsAsOften() {
    var night = Night()
    night.pass(100, audience: 1)
    let began = Double(night.next * 60)
    night.pass(3)
    night.pass(5, audience: 1)
    night.note("viewer-left", name: "Ada", detail: "link-lost", began: began, later: -240, count: 4)
    night.note("reconnected", name: "Ada", detail: "after 5 s", began: began, count: 3)
    night.note("reconnected", name: "Ada", detail: "after 5 s")
    night.pass(852, audience: 1)
    let report = night.report()
    #expect(report.reconnects == 4)
    #expect(report.gaps.map(\.causes) == [["link"]])
  }

  @Test func aReportIsBounded() {
    var night = Night()
    for number in 0..<480 {
      night.pass(1, audience: number % 3 + 1)
      night.pass(1)
      night.note("camera-lost", id: "\(number)", detail: String(repeating: "x", count: 200))
      night.note("alarm", name: "Ada", id: "link", level: "alarm", began: Double(number))
      night.note("hearing", detail: String(repeating: "x", count: 200), later: -1)
    }
    let report = night.report()
    #expect(report.monitoredMinutes == 480)
    #expect(report.gaps.count <= 12 && report.losses.count <= 20 && report.alarms.count <= 20)
    #expect(report.proofs.count <= 20 && report.proofs.allSatisfy { $0.detail?.count ?? 0 <= 80 })
    #expect(report.proofs.last?.time == night.events.last?.time)
  }

  @Test func theLongestGapsAreKeptInTheirOrder() {
    var night = Night()
    for length in Int64(1)...30 {
      night.pass(1, audience: 1)
      night.pass(31 - length)
    }
    let lengths = night.report(to: night.next * 60).gaps.map { Int(($0.to - $0.from) / 60) }
    #expect(lengths == Array((19...30).reversed()))
  }

  /// More than two nights have no time line, and take no more memory than one.
  @Test func aWeekIsCountedWithoutATimeLine() {
    var builder = ReportBuilder(from: 0, to: 7 * 86_400, now: .max, noiseDb: -45)
    for minute in Int64(0)..<7 * 1440 {
      builder.add(
        NightMinute(minute: minute, isDelivered: true, peak: -600, mean: -600, audience: minute % 10 == 0 ? 0 : 1))
    }
    let report = builder.finish(names: [1: ["Ada"]], events: [])
    #expect(report.timeline == nil)
    #expect(report.minutes == 10_080 && report.monitoredMinutes == 9072)
    #expect(report.parents == [.init(name: "Ada", minutes: 9072)])
    #expect(report.gaps.count == 12)
  }

  @Test(arguments: [Int64.min, -86_400, -1, 0, .max])
  func anyTimeIsHarmless(time: Int64) {
    var builder = ReportBuilder(from: time, to: time, now: time, noiseDb: -45)
    builder.add(NightMinute(minute: .max, isDelivered: true, peak: .max, mean: .min, audience: .min))
    #expect(builder.finish(names: [:], events: []).minutes == 0)
  }
}
