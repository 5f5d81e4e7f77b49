// The state of a child. Member names follow interfaces/wire.md, "Data channel", and are the same for the command line, the
// phone page and others. Times are seconds since 1970-01-01 UTC. Members that do not apply are left out.

public struct LightDocument: ControlReply {
  public static let member: String? = "light"

  public enum State: String, Codable, CaseIterable, Sendable {
    case on, off, flashing
    /// The device is missing or cannot be driven.
    case missing
  }

  public var id: String
  public var state: State
  /// Percent, 1...100: the level when on.
  public var brightness: Int
  /// Whether `brightness` can be set.
  public var dimmable: Bool
  /// Seconds until it goes out by itself.
  public var remainingSeconds: Int?
  /// What its timer was set to, in seconds.
  public var timerSeconds: Int?

  public init(
    id: String, state: State, brightness: Int, dimmable: Bool, remainingSeconds: Int? = nil, timerSeconds: Int? = nil
  ) {
    self.id = id
    self.state = state
    self.brightness = brightness
    self.dimmable = dimmable
    self.remainingSeconds = remainingSeconds
    self.timerSeconds = timerSeconds
  }
}

public struct TrackDocument: ListedDocument {
  public static let listMember = "tracks"

  public var id: String
  public var title: String
  /// Length. Finite; left out for an endless sound.
  public let seconds: Double?

  public init(id: String, title: String, seconds: Double? = nil) {
    self.id = id
    self.title = title
    self.seconds = seconds.flatMap { $0.isFinite ? $0 : nil }
  }
}

public struct LullabyDocument: ControlReply {
  public static let member: String? = "lullaby"

  public enum State: String, Codable, CaseIterable, Sendable {
    case stopped, playing, paused
    /// Waiting for the speaker to come back; the timer keeps running.
    case waiting
  }

  public var state: State
  /// The track that is playing or played last.
  public var track: String?
  /// Percent, limited to the child's maximum.
  public var volume: Int
  public var loop: Bool
  /// Position in the track, to a tenth.
  public var positionSeconds: Double?
  /// Seconds until it ends; left out when it does not.
  public var remainingSeconds: Int?
  /// What its timer was set to, in seconds.
  public var timerSeconds: Int?
  /// Percent: the child's maximum. Left out by children that do not know.
  public var maximumVolume: Int?

  public init(
    state: State, track: String? = nil, volume: Int, loop: Bool = false, positionSeconds: Double? = nil,
    remainingSeconds: Int? = nil, timerSeconds: Int? = nil, maximumVolume: Int? = nil
  ) {
    self.state = state
    self.track = track
    self.volume = volume
    self.loop = loop
    self.positionSeconds = positionSeconds
    self.remainingSeconds = remainingSeconds
    self.timerSeconds = timerSeconds
    self.maximumVolume = maximumVolume
  }
}

/// State of a camera, the microphone or the speaker.
public enum DeviceState: String, Codable, CaseIterable, Sendable {
  /// Not configured.
  case off
  case opening, running
  case missing
}

public struct CameraDocument: ListedDocument {
  public static let listMember = "cameras"

  public var id: String
  /// The device's own name, or why it is missing.
  public var name: String
  /// What viewers call it; left out: its id.
  public var title: String?
  /// It is being streamed.
  public var active: Bool
  /// Pixels; left out until known.
  public var width: Int?
  public var height: Int?
  public var state: DeviceState
  /// Whether it is night for this camera. Left out by children that do not know.
  public var night: Bool?
  /// Its infrared lamp: `on`, `off` or `missing`. Left out without one.
  public var infrared: LightDocument.State?

  public init(
    id: String, name: String, title: String? = nil, active: Bool, width: Int? = nil, height: Int? = nil,
    state: DeviceState,
    night: Bool? = nil, infrared: LightDocument.State? = nil
  ) {
    self.id = id
    self.name = name
    self.title = title
    self.active = active
    self.width = width
    self.height = height
    self.state = state
    self.night = night
    self.infrared = infrared
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

public struct TalkDocument: ControlReply {
  public static let member: String? = "talk"

  /// Name of the viewer that is talking; left out when nobody is.
  public var holder: String?
  /// Id of that viewer; two viewers can have the same name.
  public var viewer: String?
  /// It gives way to a paired parent, who need not force it; left out where it does not.
  public var isGuest: Bool?

  public init(holder: String? = nil, viewer: String? = nil, isGuest: Bool? = nil) {
    self.holder = holder
    self.viewer = viewer
    self.isGuest = isGuest
  }
}

public struct ViewerDocument: Codable, Hashable, Sendable {
  /// Unique per session.
  public var id: String
  /// Name of the pair record or the token.
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

/// The state of everything: complete in `hello` and `status.get`; in `state` only the members that changed.
public struct StateDocument: Codable, Hashable, Sendable {
  public var lights: [LightDocument]?
  public var lullaby: LullabyDocument?
  public var cameras: [CameraDocument]?
  public var talk: TalkDocument?
  /// At most `ControlLimits.viewersInState`.
  public var viewers: [ViewerDocument]?
  public var microphone: DeviceDocument?
  public var speaker: DeviceDocument?
  /// The proof of hearing that runs, else the last one. Left out before the first.
  public var hearing: HearingDocument?
  /// The alarm drill that runs, else the last one. Left out before the first.
  public var drill: DrillDocument?
  /// What `schedule` of the configuration does next of cameras, lights and lullabies, within a day: at most one of each.
  public var schedule: [ScheduledDocument]?

  public init(
    lights: [LightDocument]? = nil, lullaby: LullabyDocument? = nil, cameras: [CameraDocument]? = nil,
    talk: TalkDocument? = nil, viewers: [ViewerDocument]? = nil, microphone: DeviceDocument? = nil,
    speaker: DeviceDocument? = nil, hearing: HearingDocument? = nil, drill: DrillDocument? = nil,
    schedule: [ScheduledDocument]? = nil
  ) {
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
}

/// What the child does by itself at a time of the day. One of `camera`, `light` and `lullaby`.
public struct ScheduledDocument: Codable, Hashable, Sendable {
  /// By the clock of the child's time zone: `18:45`.
  public var at: String
  /// `on` or `off`.
  public var camera: String?
  /// `on` or `off`.
  public var light: String?
  /// The track, or `off`.
  public var lullaby: String?

  public init(_ entry: Schedule.Entry) {
    let (hour, minute) = entry.minutes.quotientAndRemainder(dividingBy: 60)
    at = "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
    switch entry.action {
    case .camera(let isOn): camera = isOn ? "on" : "off"
    case .light(let light): self.light = light.state.rawValue
    case .lullaby(let lullaby): self.lullaby = lullaby.track ?? ""
    case .lullabyStop: lullaby = "off"
    }
  }
}
