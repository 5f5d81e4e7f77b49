public import Control

/// Computes the report of a night, or of any other time, from events and minutes. It keeps no more of the minutes than the
/// report shows.
public struct ReportBuilder: Sendable {
  /// Kinds of events that a report is made of. `hearing` and `drill` are proofs.
  public static let kinds = [
    "viewer-left", "unpaired", "camera-lost", "camera-back", "microphone-lost", "microphone-back", "speaker-lost",
    "speaker-back", "restart", "reconnected", "clock-set", "alarm", "hearing", "drill",
  ]
  /// Events from so many seconds before the time are wanted, too: a device may be lost already when the night begins.
  public static let lead = 86_400.0
  /// The longest time that has a time line, in minutes.
  public static let timelineMinutes: Int64 = 2 * 24 * 60
  private static let maximumGaps = 12
  private static let maximumItems = 20
  private static let maximumParents = 16
  /// A viewer that left so many seconds before a gap is its cause: its last minute still counts as heard.
  private static let before = 90.0

  private struct Gap {
    var from: Int64
    var to: Int64
    var isUnrecorded = false
    var isUndelivered = false
  }

  private let from: Int64
  private let to: Int64
  private let first: Int64
  /// The minute after the last one that has passed.
  private let end: Int64
  private let noiseDb: Double

  private var next: Int64
  private var gap: Gap?
  private var gaps: [Gap] = []
  private var recorded = 0
  private var monitored = 0
  private var noisy = 0
  private var loudest: Int16?
  /// Minutes by audience. Those that are alike come one after the other.
  private var audiences: [Int: Int] = [:]
  private var latest = (audience: 0, minutes: 0)
  private var levels: [Int] = []
  private var heard: [Int] = []
  private let hasTimeline: Bool

  /// - Parameters:
  ///   - from: seconds since 1970-01-01 UTC, as `to` and `now`.
  ///   - noiseDb: dB relative to full scale.
  public init(from: Int64, to: Int64, now: Int64, noiseDb: Double) {
    self.from = from
    self.to = max(from, to)
    self.noiseDb = noiseDb
    first = Self.minute(from)
    end = max(first, Self.minute(min(self.to, now)))
    next = first
    hasTimeline = end - first <= Self.timelineMinutes
  }

  /// The minutes that are wanted: those since 1970-01-01 UTC within this range.
  public var range: Range<Int64> { first..<end }

  private static func minute(_ seconds: Int64) -> Int64 {
    let (minute, rest) = seconds.quotientAndRemainder(dividingBy: 60)
    return rest < 0 ? minute - 1 : minute
  }

  /// Ascending; others are ignored.
  public mutating func add(_ minute: NightMinute) {
    guard minute.minute >= next, minute.minute < end else { return }
    skip(to: minute.minute)
    next += 1
    recorded += 1
    if minute.isDelivered, let peak = minute.peak {
      if Double(peak) > noiseDb * 10 { noisy += 1 }
      loudest = max(loudest ?? peak, peak)
    }
    let isMonitored = minute.isDelivered && minute.audience != 0
    if minute.audience != latest.audience { countLatest(next: minute.audience) }
    latest.minutes += 1
    if hasTimeline {
      let level = minute.isDelivered ? minute.peak.map { min(100, max(0, -Int($0) / 10)) } : nil
      levels.append(level ?? ReportDocument.Timeline.microphoneSilent)
      heard.append(minute.audience)
    }
    if isMonitored {
      monitored += 1
      closeGap(at: minute.minute)
    } else {
      if gap == nil { gap = Gap(from: minute.minute, to: minute.minute) }
      if !minute.isDelivered { gap?.isUndelivered = true }
    }
  }

  private mutating func countLatest(next audience: Int) {
    if latest.audience != 0 { audiences[latest.audience, default: 0] += latest.minutes }
    latest = (audience, 0)
  }

  /// Minutes of which there is no record.
  private mutating func skip(to minute: Int64) {
    guard next < minute else { return }
    if gap == nil { gap = Gap(from: next, to: next) }
    gap?.isUnrecorded = true
    if hasTimeline {
      for _ in next..<minute {
        levels.append(ReportDocument.Timeline.childOff)
        heard.append(0)
      }
    }
    next = minute
  }

  private mutating func closeGap(at minute: Int64) {
    guard var closed = gap else { return }
    gap = nil
    closed.to = minute
    if gaps.count >= Self.maximumGaps {
      guard let shortest = gaps.indices.min(by: { Self.length(gaps[$0]) < Self.length(gaps[$1]) }),
        Self.length(gaps[shortest]) < Self.length(closed)
      else { return }
      gaps.remove(at: shortest)
    }
    gaps.append(closed)
  }

  private static func length(_ gap: Gap) -> Int64 { gap.to - gap.from }

  /// The report. Call once, after the last minute.
  ///
  /// - Parameters:
  ///   - names: who belongs to an audience, by its number.
  ///   - events: those of `kinds` from `lead` before the time on, in the order in which they were noted.
  public consuming func finish(names: [Int: [String]], events: [EventDocument]) -> ReportDocument {
    skip(to: end)
    closeGap(at: end)
    countLatest(next: 0)
    let gapDocuments = gaps.map { document($0, events) }
    let longest = gaps.indices.max { Self.length(gaps[$0]) < Self.length(gaps[$1]) }
    let (start, stop) = (Double(from), Double(to))
    let inside = events.filter { $0.time >= start && $0.time < stop }
    return ReportDocument(
      from: start, to: stop, minutes: Int(clamping: end - first), recordedMinutes: recorded,
      monitoredMinutes: monitored, parents: parents(names), longestGap: longest.map { gapDocuments[$0] },
      gaps: gapDocuments,
      noise: .init(minutes: noisy, thresholdDb: noiseDb, loudestDb: loudest.map { Double($0) / 10 }),
      losses: Array(losses(events).suffix(Self.maximumItems)), alarms: Array(alarms(inside).suffix(Self.maximumItems)),
      proofs: Array(proofs(inside).suffix(Self.maximumItems)), restarts: inside.count { $0.kind == "restart" },
      reconnects: inside.reduce(0) { $1.kind == "reconnected" ? $0 &+ max(1, $1.count ?? 1) : $0 },
      timeline: hasTimeline ? timeline(names) : nil)
  }

  private func parents(_ names: [Int: [String]]) -> [ReportDocument.Parent] {
    var minutes: [String: Int] = [:]
    for (audience, count) in audiences {
      for name in names[audience] ?? [] { minutes[name, default: 0] += count }
    }
    return minutes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.maximumParents).map {
      ReportDocument.Parent(name: $0.key, minutes: $0.value)
    }
  }

  // MARK: Gaps

  private func document(_ gap: Gap, _ events: [EventDocument]) -> ReportDocument.Gap {
    let (start, stop) = (Double(gap.from * 60), Double(gap.to * 60))
    var causes: Set<ReportDocument.Cause> = []
    // Of one that happened several times, any may be the cause.
    for event in events
    where event.time >= start - Self.before && (event.count == nil ? event.time : event.began ?? event.time) < stop {
      switch event.kind {
      case "viewer-left": causes.insert(Self.cause(of: event.detail))
      case "unpaired": causes.insert(.ended)
      case "clock-set": causes.insert(.clock)
      default: break
      }
    }
    if gap.isUnrecorded, !causes.contains(.clock) { causes.insert(.childOff) }
    if gap.isUndelivered { causes.insert(.microphone) }
    if causes.isEmpty { causes.insert(.nobody) }
    return ReportDocument.Gap(
      from: start, to: stop, causes: ReportDocument.Cause.allCases.filter(causes.contains).map(\.rawValue))
  }

  private static func cause(of detail: String?) -> ReportDocument.Cause {
    switch detail.flatMap(LeavingCause.init) {
    case .linkLost: .link
    case .ended: .ended
    case .left, nil: .left
    }
  }

  // MARK: Events

  private func losses(_ events: [EventDocument]) -> [ReportDocument.Loss] {
    var all: [ReportDocument.Loss] = []
    func close(at time: Double, where matches: (ReportDocument.Loss) -> Bool) {
      for index in all.indices where all[index].to == nil && matches(all[index]) { all[index].to = time }
    }
    for event in events {
      // A start finds by itself what is missing then.
      if event.kind == "restart" { close(at: event.time) { _ in true } }
      for device in ["camera", "microphone", "speaker"] {
        if event.kind == "\(device)-lost" {
          all.append(ReportDocument.Loss(device: device, id: event.id, from: event.time))
        } else if event.kind == "\(device)-back" {
          close(at: event.time) { $0.device == device && $0.id == event.id }
        }
      }
    }
    let (start, stop) = (Double(from), Double(to))
    return all.filter { $0.from < stop && $0.to.map { $0 > start } ?? true }
  }

  private func alarms(_ events: [EventDocument]) -> [ReportDocument.Alarm] {
    // A parent whose answer got lost reports an alarm again.
    var seen: Set<ReportDocument.Alarm> = []
    return events.compactMap { event in
      guard event.kind == "alarm" else { return nil }
      let alarm = ReportDocument.Alarm(
        name: event.name ?? "", kind: event.id ?? "", level: event.level ?? "", began: event.began ?? event.time,
        acknowledgedAt: event.acknowledgedAt)
      return seen.insert(alarm).inserted ? alarm : nil
    }
  }

  private func proofs(_ events: [EventDocument]) -> [ReportDocument.Proof] {
    events.compactMap { event in
      guard event.kind == "hearing" || event.kind == "drill" else { return nil }
      return ReportDocument.Proof(
        kind: event.kind, time: event.time, level: event.level, name: event.name,
        detail: event.detail.map { String($0.prefix(80)) })
    }
  }

  // MARK: Time line

  private func timeline(_ names: [Int: [String]]) -> ReportDocument.Timeline {
    let listeners = parents(names).map { parent in
      let sets = Set(names.filter { $0.value.contains(parent.name) }.keys)
      var runs = [0]
      var isHeard = false
      for audience in heard {
        if sets.contains(audience) != isHeard {
          isHeard.toggle()
          runs.append(0)
        }
        runs[runs.count - 1] += 1
      }
      return ReportDocument.Timeline.Listener(name: parent.name, runs: runs)
    }
    return ReportDocument.Timeline(levels: levels, listeners: listeners)
  }
}
