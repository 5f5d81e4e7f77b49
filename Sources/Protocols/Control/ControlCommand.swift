public import Pairing

/// A command with its parameters, all within `ControlLimits`.
public enum ControlCommand: Hashable, Sendable {
  case ping
  case statusGet
  case lightSet(LightSetting)
  case lightFlash(LightFlash)
  case lullabyList
  case lullabyPlay(LullabyRequest)
  case lullabyStop
  case lullabyPause
  case lullabyResume
  case lullabyNext
  /// Percent.
  case lullabyVolume(Int)
  case cameraList
  /// Without an id: the next one.
  case cameraSwitch(id: String?)
  /// Without a camera: the one that is streamed. `quality`: of the JPEG, 1...100.
  case screenshotTake(camera: String?, quality: Int?)
  case talkAcquire(force: Bool)
  case talkRelease
  /// `since`: the sequence number of the last event that is known. `limit`: of the reply's events.
  case eventsGet(since: UInt64?, limit: Int?)
  /// `admin`: whoever pairs may administer the child, too.
  case pairingOpen(admin: Bool)
  case pairingClose
  case pairsList
  /// Without an id: the pair of who asks.
  case pairRemove(id: String?)
  case inviteCreate(InviteRequest)

  public var name: CommandName {
    switch self {
    case .ping: .ping
    case .statusGet: .statusGet
    case .lightSet: .lightSet
    case .lightFlash: .lightFlash
    case .lullabyList: .lullabyList
    case .lullabyPlay: .lullabyPlay
    case .lullabyStop: .lullabyStop
    case .lullabyPause: .lullabyPause
    case .lullabyResume: .lullabyResume
    case .lullabyNext: .lullabyNext
    case .lullabyVolume: .lullabyVolume
    case .cameraList: .cameraList
    case .cameraSwitch: .cameraSwitch
    case .screenshotTake: .screenshotTake
    case .talkAcquire: .talkAcquire
    case .talkRelease: .talkRelease
    case .eventsGet: .eventsGet
    case .pairingOpen: .pairingOpen
    case .pairingClose: .pairingClose
    case .pairsList: .pairsList
    case .pairRemove: .pairRemove
    case .inviteCreate: .inviteCreate
    }
  }
}

/// `light.set`
public struct LightSetting: Hashable, Sendable {
  public enum Switch: String, CaseIterable, Sendable {
    case on, off, toggle
  }

  /// Without it: the first light.
  public var id: String?
  public var state: Switch
  /// Percent; without it as it was. 0 is off. Not with `off`.
  public var brightness: Int?
  /// Until it goes out by itself; without it stays on. Not with `off`.
  public var seconds: Int?

  public init(id: String? = nil, state: Switch, brightness: Int? = nil, seconds: Int? = nil) {
    self.id = id
    self.state = state
    self.brightness = brightness
    self.seconds = seconds
  }
}

/// `light.flash`
public struct LightFlash: Hashable, Sendable {
  /// Without it: the first light.
  public var id: String?
  public var times: Int?
  /// Of one flash, and of the pause behind it.
  public var milliseconds: Int?

  public init(id: String? = nil, times: Int? = nil, milliseconds: Int? = nil) {
    self.id = id
    self.times = times
    self.milliseconds = milliseconds
  }
}

/// `lullaby.play`
public struct LullabyRequest: Hashable, Sendable {
  /// Without it: the last one that played, else the first.
  public var track: String?
  /// Percent; without it as it was.
  public var volume: Int?
  /// Until it ends; 0: never by itself.
  public var seconds: Int?
  /// Begin anew at the track's end.
  public var loop: Bool?
  /// How long before the end it begins to go quiet.
  public var fadeSeconds: Int?

  public init(
    track: String? = nil, volume: Int? = nil, seconds: Int? = nil, loop: Bool? = nil, fadeSeconds: Int? = nil
  ) {
    self.track = track
    self.volume = volume
    self.seconds = seconds
    self.loop = loop
    self.fadeSeconds = fadeSeconds
  }
}

/// `invite.create`
public struct InviteRequest: Hashable, Sendable {
  public var name: String?
  /// How long the guest may stay.
  public var seconds: Int?
  /// Never `admin`; without it `view` and `listen`.
  public var allow: Permissions?

  public init(name: String? = nil, seconds: Int? = nil, allow: Permissions? = nil) {
    self.name = name
    self.seconds = seconds
    self.allow = allow
  }
}
