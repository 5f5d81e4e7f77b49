public import Wire

/// Everything that `hello` and `state` report, in terms that do not change merely because time passes: a running timer
/// is not a change.
public struct NodeState: Hashable, Sendable {
  /// When this state was taken.
  public var time: Instant
  public var lights: [LightState]
  public var lullaby: LullabyDocument
  public var cameras: [CameraDocument]
  public var talk: TalkDocument
  public var viewers: [ViewerDocument]
  public var microphone: DeviceDocument
  public var speaker: DeviceDocument
  public var hearing: HearingDocument?
  public var drill: DrillDocument?
  public var schedule: [ScheduledDocument]?

  public init(
    time: Instant, lights: [LightState], lullaby: LullabyDocument, cameras: [CameraDocument], talk: TalkDocument,
    viewers: [ViewerDocument], microphone: DeviceDocument, speaker: DeviceDocument, hearing: HearingDocument? = nil,
    drill: DrillDocument? = nil, schedule: [ScheduledDocument]? = nil
  ) {
    self.time = time
    self.lights = lights
    self.lullaby = lullaby
    self.cameras = cameras
    self.talk = talk
    self.viewers = viewers
    self.microphone = microphone
    self.speaker = speaker
    self.hearing = hearing
    self.drill = drill
    self.schedule = schedule
  }

  /// The complete state.
  public var document: StateDocument {
    StateDocument(
      lights: lights.map { $0.document(now: time) }, lullaby: lullaby, cameras: cameras, talk: talk,
      viewers: Array(viewers.prefix(ControlLimits.viewersInState)), microphone: microphone, speaker: speaker,
      hearing: hearing, drill: drill, schedule: schedule)
  }

  /// The members that differ from `earlier`, each complete; nil when none does.
  public func changes(since earlier: NodeState) -> StateDocument? {
    let isSameLullaby = lullaby.isAs(earlier.lullaby, after: time - earlier.time)
    var other = earlier
    other.time = time
    if isSameLullaby { other.lullaby = lullaby }
    guard self != other else { return nil }
    let whole = document
    return StateDocument(
      lights: lights == earlier.lights ? nil : whole.lights,
      lullaby: isSameLullaby ? nil : whole.lullaby,
      cameras: cameras == earlier.cameras ? nil : whole.cameras, talk: talk == earlier.talk ? nil : whole.talk,
      viewers: viewers == earlier.viewers ? nil : whole.viewers,
      microphone: microphone == earlier.microphone ? nil : whole.microphone,
      speaker: speaker == earlier.speaker ? nil : whole.speaker,
      hearing: hearing == earlier.hearing ? nil : whole.hearing,
      drill: drill == earlier.drill ? nil : whole.drill,
      schedule: schedule == earlier.schedule ? nil : whole.schedule)
  }
}

extension LullabyDocument {
  /// Whether only time has passed.
  func isAs(_ earlier: LullabyDocument, after time: Duration) -> Bool {
    guard
      (state, track, volume, loop, timerSeconds)
        == (earlier.state, earlier.track, earlier.volume, earlier.loop, earlier.timerSeconds)
    else { return false }
    guard let remainingSeconds, let before = earlier.remainingSeconds else {
      return (remainingSeconds == nil) == (earlier.remainingSeconds == nil)
    }
    // Both sides are whole seconds. While paused, the timer may stand still.
    return abs(Double(before - remainingSeconds) - time.inSeconds) <= 2
      || before == remainingSeconds && state == .paused
  }
}
