internal import Control
internal import Devices
internal import Frames
internal import HearingProof
internal import NIOCore
internal import Pipelines
internal import Wire

/// Runs proofs of hearing: plays the chirp, listens at the child's own microphone, and hears from the parents.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class HearingService: @unchecked Sendable {
  private let sound: SoundOutput
  private let audio: AudioPipeline
  private let loop: any EventLoop
  private var test: HearingTest?
  private var timer: RepeatedTask?
  private var number = 0
  /// The one that runs, else the last one.
  private(set) var document: HearingDocument?
  /// Who listens now and may say so.
  var listeners: () -> [HearingTest.Listener] = { [] }
  /// The document has changed.
  var changed: (HearingDocument) -> Void = { _ in }

  private static let interval: TimeAmount = .milliseconds(100)

  init(sound: SoundOutput, audio: AudioPipeline, loop: any EventLoop) {
    self.sound = sound
    self.audio = audio
    self.loop = loop
  }

  /// The last one of an earlier run.
  func restore(_ document: HearingDocument) {
    self.document = document
    number = document.number
  }

  var isRunning: Bool { test != nil }

  /// Begins a proof. One that runs ends without a result.
  func begin(unixTime: Double) -> HearingDocument {
    stop()
    number += 1
    let (way, speaker) = way
    test = HearingTest(number: number, way: way, now: MonotonicClock.now)
    let begun = HearingDocument(
      number: number, state: .running, way: way.rawValue, speaker: speaker, time: unixTime,
      seconds: HearingTest.longest.inSeconds)
    document = begun
    let bound = NIOLoopBound(self, eventLoop: loop)
    audio.ear.begin { [loop] share in
      loop.execute { bound.value.test?.microphoneHeard(share: share) }
    }
    timer = loop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in bound.value.beat() }
    changed(begun)
    return begun
  }

  /// And, where it is the weaker one, what the speaker does instead of playing.
  private var way: (HearingTest.Way, DeviceState?) {
    switch sound.speaker {
    case .running: (.chirp, nil)
    case .off: (.noiseFloor, .off)
    case .opening, .missing: (.noiseFloor, .missing)
    }
  }

  /// `hearing.heard`: of another test, and of somebody who is not asked, it is ignored.
  func note(_ note: HearingHeard, from viewer: ViewerSession) {
    guard note.number == test?.number, let listener = listeners().first(where: { $0.id == viewer.id }) else { return }
    if let share = note.share, share >= ChirpDetector.threshold {
      test?.heard(by: listener, now: MonotonicClock.now)
    }
    if let level = note.levelDb { test?.received(NoiseFloor.Figures(levelDb: level, isAlive: true), by: listener) }
  }

  /// Ends a proof without a result.
  func stop() {
    timer?.cancel()
    timer = nil
    test = nil
    audio.ear.end()
  }

  private func beat() {
    if let floor = audio.ear.floor { test?.measured(floor) }
    switch test?.handleTimeout(now: MonotonicClock.now, listeners: listeners().map(\.id)) {
    case .play(let levelDb): sound.play(chirp: Chirp.samples(levelDb: levelDb))
    case .finish: finish()
    case nil: break
    }
  }

  private func finish() {
    guard let test else { return }
    let unanswered = test.unanswered(by: listeners())
    stop()
    let over = HearingDocument(
      number: test.number, state: test.isHeard ? .heard : .notHeard, way: test.way.rawValue,
      speaker: document?.speaker, time: MonotonicClock.unixTime,
      microphone: test.way == .chirp ? test.microphoneShare != nil : nil,
      parents: test.heardBy.map(\.name), unanswered: unanswered.isEmpty ? nil : unanswered)
    document = over
    changed(over)
  }
}
