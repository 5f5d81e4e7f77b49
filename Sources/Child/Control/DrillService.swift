internal import Control
internal import Frames
internal import Monitoring
internal import NIOCore
internal import Pipelines
internal import Server
internal import Wire

/// Runs alarm drills: cuts off picture, sound and heartbeats from the paired parents that watch, until they have rung and
/// somebody has acknowledged it.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class DrillService: @unchecked Sendable {
  private let viewers: Viewers
  private var drill: FireDrill?
  private var begunAt = 0.0
  private var timer: RepeatedTask?
  private var number = 0
  /// The one that runs, else the last one.
  private(set) var document: DrillDocument?
  /// The document has changed.
  var changed: (DrillDocument) -> Void = { _ in }
  /// Everything was withheld from this viewer, and is not any more.
  var released: (ViewerSession) -> Void = { _ in }

  private static let interval: TimeAmount = .milliseconds(100)

  init(viewers: Viewers) {
    self.viewers = viewers
  }

  /// The last one of an earlier run.
  func restore(_ document: DrillDocument) {
    self.document = document
    number = document.number
  }

  var isRunning: Bool { drill != nil }

  /// Throws `unavailable` when nobody would ring. None may be running.
  func begin(_ stages: [FireDrill.Stage], unixTime: Double) throws(ControlError) -> DrillDocument {
    precondition(drill == nil, "ProofPolicy allows one at a time")
    let new = FireDrill(number: number + 1, stages: stages, parents: parents, now: MonotonicClock.now)
    guard new.stage != nil else {
      throw ControlError(
        .unavailable,
        "No device with permanent access is watching, and only these have to ring. Start watching, then try again.")
    }
    number += 1
    drill = new
    begunAt = unixTime
    let bound = NIOLoopBound(self, eventLoop: viewers.hub.eventLoop)
    timer = viewers.hub.eventLoop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
      bound.value.beat()
    }
    let begun = describe(new, seconds: FireDrill.limit(stages: stages.count).inSeconds)
    document = begun
    changed(begun)
    return begun
  }

  /// An alarm that a parent reports.
  func note(_ alarm: AlarmNote, from viewer: ViewerSession) {
    guard let pair = viewer.pair else { return }
    drill?.rang(alarm.kind, isAcknowledged: alarm.acknowledgedAt != nil, at: pair)
    beat()
  }

  /// Who ended the last one before its time.
  private(set) var endedBy: String?

  /// Ends it before its time.
  func end(by name: String, unixTime: Double) {
    guard let drill else { return }
    endedBy = name
    stop()
    finish(DrillDocument(number: drill.number, state: .stopped, time: unixTime, parents: drill.results))
  }

  /// Ends it without a result.
  func stop() {
    timer?.cancel()
    timer = nil
    drill = nil
    apply()
  }

  /// Each session of a pair counts: a parent that reconnects meets the same.
  func apply() {
    for viewer in viewers.registry.all {
      let now = viewer.pair.flatMap { drill?.withheld(from: $0) }
      guard now != viewer.withheld else { continue }
      let before = viewer.withheld
      viewer.withheld = now
      if before == .link || before == .camera { viewers.pipeline(of: viewer)?.requestKeyFrameAtOnce(in: viewer.codec) }
      if before == .link { released(viewer) }
    }
  }

  /// Paired parents and guests that watch, each once, and what all their sessions miss.
  private var parents: [FireDrill.Parent] {
    var parents: [FireDrill.Parent] = []
    for viewer in viewers.registry.byAge where viewer.isWatching && viewer.controlChannel != nil {
      guard let pair = viewer.pair else { continue }
      var stages: Set<FireDrill.Stage> = [.link]
      if viewer.seesPicture, let camera = viewers.pipeline(of: viewer)?.camera.deviceState, camera != .off {
        stages.insert(.camera)
      }
      if viewer.hearsSound { stages.insert(.microphone) }
      if let index = parents.firstIndex(where: { $0.id == pair }) {
        parents[index].stages.formUnion(stages)
      } else {
        parents.append(
          FireDrill.Parent(
            id: pair, name: viewer.name, stages: stages,
            isRequired: viewers.credentials.rank(of: viewer.origin) == .parent))
      }
    }
    return parents
  }

  private func beat() {
    let present = Set(viewers.registry.all.filter(\.isWatching).compactMap(\.pair))
    guard let before = drill?.results else { return }
    let isAnother = drill?.handleTimeout(now: MonotonicClock.now, present: present) ?? false
    apply()
    guard let drill, isAnother || drill.results != before else { return }
    guard drill.isOver else {
      let running = describe(drill, seconds: document?.seconds)
      guard running != document else { return }
      document = running
      return changed(running)
    }
    stop()
    finish(
      DrillDocument(
        number: drill.number, state: drill.isPassed ? .passed : .failed, time: MonotonicClock.unixTime,
        parents: drill.results))
  }

  private func finish(_ over: DrillDocument) {
    document = over
    changed(over)
  }

  private func describe(_ drill: FireDrill, seconds: Double?) -> DrillDocument {
    DrillDocument(
      number: drill.number, state: .running, stage: drill.stage, time: begunAt, seconds: seconds,
      parents: drill.results)
  }
}
