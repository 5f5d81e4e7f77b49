// What a child says about itself. Member names are those of INTERFACES.md, "Data channel", so that the command line,
// the phone page and others read the same. Times are seconds since 1970-01-01 UTC. A member that does not apply is
// left out.

public struct LightDocument: Codable, Hashable, Sendable {
  public enum State: String, Codable, CaseIterable, Sendable {
    case on, off, flashing
    /// The device is gone or refuses.
    case missing
  }

  public var id: String
  public var state: State
  /// Percent, 1...100: what it shines with when it is on.
  public var brightness: Int
  /// Whether `brightness` can be set.
  public var dimmable: Bool
  /// Until it goes out by itself.
  public var remainingSeconds: Int?

  public init(id: String, state: State, brightness: Int, dimmable: Bool, remainingSeconds: Int? = nil) {
    self.id = id
    self.state = state
    self.brightness = brightness
    self.dimmable = dimmable
    self.remainingSeconds = remainingSeconds
  }
}

public struct TrackDocument: Codable, Hashable, Sendable {
  public var id: String
  public var title: String
  /// Finite. Left out for a sound that has no end.
  public let seconds: Double?

  public init(id: String, title: String, seconds: Double? = nil) {
    self.id = id
    self.title = title
    self.seconds = seconds.flatMap { $0.isFinite ? $0 : nil }
  }
}

public struct LullabyDocument: Codable, Hashable, Sendable {
  public enum State: String, Codable, CaseIterable, Sendable {
    case stopped, playing, paused
    /// For the speaker to come back; the timer goes on.
    case waiting
  }

  public var state: State
  /// What plays or played last.
  public var track: String?
  /// Percent, after the child's cap.
  public var volume: Int
  public var loop: Bool
  /// Within the track, to a tenth.
  public var positionSeconds: Double?
  /// Until silence; left out when nothing ends it.
  public var remainingSeconds: Int?

  public init(
    state: State, track: String? = nil, volume: Int, loop: Bool = false, positionSeconds: Double? = nil,
    remainingSeconds: Int? = nil
  ) {
    self.state = state
    self.track = track
    self.volume = volume
    self.loop = loop
    self.positionSeconds = positionSeconds
    self.remainingSeconds = remainingSeconds
  }
}

/// How a camera, the microphone or the speaker is.
public enum DeviceState: String, Codable, CaseIterable, Sendable {
  /// Not configured.
  case off
  case opening, running
  case missing
}

public struct CameraDocument: Codable, Hashable, Sendable {
  public var id: String
  /// The device's own name, or why it is missing.
  public var name: String
  /// It is the one that is streamed.
  public var active: Bool
  /// Pixels; left out until they are known.
  public var width: Int?
  public var height: Int?
  public var state: DeviceState

  public init(id: String, name: String, active: Bool, width: Int? = nil, height: Int? = nil, state: DeviceState) {
    self.id = id
    self.name = name
    self.active = active
    self.width = width
    self.height = height
    self.state = state
  }
}

/// The microphone or the speaker.
public struct DeviceDocument: Codable, Hashable, Sendable {
  public var state: DeviceState
  /// The device's own name, or why it is missing.
  public var name: String

  public init(state: DeviceState, name: String) {
    self.state = state
    self.name = name
  }
}

public struct TalkDocument: Codable, Hashable, Sendable {
  /// The name of who speaks; left out when nobody does.
  public var holder: String?
  /// Which of the viewers that is; two may have one name.
  public var viewer: String?

  public init(holder: String? = nil, viewer: String? = nil) {
    self.holder = holder
    self.viewer = viewer
  }
}

public struct ViewerDocument: Codable, Hashable, Sendable {
  /// Of this session; another one has another.
  public var id: String
  /// The pair record's or the token's.
  public var name: String
  public var permissions: [String]
  /// When the session began.
  public var since: Double

  public init(id: String, name: String, permissions: [String], since: Double) {
    self.id = id
    self.name = name
    self.permissions = permissions
    self.since = since
  }
}

/// The state of everything: whole in `hello` and `status.get`, and in `state` just what changed, each member whole.
public struct StateDocument: Codable, Hashable, Sendable {
  public var lights: [LightDocument]?
  public var lullaby: LullabyDocument?
  public var cameras: [CameraDocument]?
  public var talk: TalkDocument?
  /// At most `ControlLimits.viewersInState`.
  public var viewers: [ViewerDocument]?
  public var microphone: DeviceDocument?
  public var speaker: DeviceDocument?

  public init(
    lights: [LightDocument]? = nil, lullaby: LullabyDocument? = nil, cameras: [CameraDocument]? = nil,
    talk: TalkDocument? = nil, viewers: [ViewerDocument]? = nil, microphone: DeviceDocument? = nil,
    speaker: DeviceDocument? = nil
  ) {
    self.lights = lights
    self.lullaby = lullaby
    self.cameras = cameras
    self.talk = talk
    self.viewers = viewers
    self.microphone = microphone
    self.speaker = speaker
  }
}
