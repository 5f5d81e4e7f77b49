public import Wire

/// Everything that `hello` and `state` tell, in terms that do not change by time passing alone: a timer that runs down
/// is no news.
public struct NodeState: Hashable, Sendable {
  public var lights: [LightState]
  public var lullaby: LullabyDocument
  public var cameras: [CameraDocument]
  public var talk: TalkDocument
  public var viewers: [ViewerDocument]
  public var microphone: DeviceDocument
  public var speaker: DeviceDocument

  public init(
    lights: [LightState], lullaby: LullabyDocument, cameras: [CameraDocument], talk: TalkDocument,
    viewers: [ViewerDocument], microphone: DeviceDocument, speaker: DeviceDocument
  ) {
    self.lights = lights
    self.lullaby = lullaby
    self.cameras = cameras
    self.talk = talk
    self.viewers = viewers
    self.microphone = microphone
    self.speaker = speaker
  }

  /// The whole.
  public func document(now: Instant) -> StateDocument {
    StateDocument(
      lights: lights.map { $0.document(now: now) }, lullaby: lullaby, cameras: cameras, talk: talk,
      viewers: Array(viewers.prefix(ControlLimits.viewersInState)), microphone: microphone, speaker: speaker)
  }

  /// What is not as in `earlier`, each member whole; nil when nothing changed.
  public func changes(since earlier: NodeState, now: Instant) -> StateDocument? {
    let isSameLullaby = lullaby.isAs(earlier.lullaby)
    var other = earlier
    if isSameLullaby { other.lullaby = lullaby }
    guard self != other else { return nil }
    let whole = document(now: now)
    return StateDocument(
      lights: lights == earlier.lights ? nil : whole.lights,
      lullaby: isSameLullaby ? nil : whole.lullaby,
      cameras: cameras == earlier.cameras ? nil : whole.cameras, talk: talk == earlier.talk ? nil : whole.talk,
      viewers: viewers == earlier.viewers ? nil : whole.viewers,
      microphone: microphone == earlier.microphone ? nil : whole.microphone,
      speaker: speaker == earlier.speaker ? nil : whole.speaker)
  }
}

extension LullabyDocument {
  /// Whether nothing but time has passed.
  func isAs(_ earlier: LullabyDocument) -> Bool {
    (state, track, volume, loop) == (earlier.state, earlier.track, earlier.volume, earlier.loop)
      && (remainingSeconds ?? 0) <= (earlier.remainingSeconds ?? 0)
  }
}
