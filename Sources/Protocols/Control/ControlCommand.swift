public import Pairing

/// A command and its parameters, all of them within `ControlLimits`.
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
  /// Without an id: the next camera.
  case cameraSwitch(id: String?)
  /// Without a camera: the streamed one. `quality`: JPEG quality, 1...100.
  case screenshotTake(camera: String?, quality: Int?)
  case talkAcquire(force: Bool)
  case talkRelease
  /// `since`: sequence number of the last event that the parent has. `limit`: maximum number of events in the reply.
  /// `level`: less grave ones are left out.
  case eventsGet(since: UInt64?, limit: Int?, level: EventLevel? = nil)
  case reportGet(ReportRequest)
  case alarmNote(AlarmNote)
  case hearingTest
  case hearingHeard(HearingNote)
  /// Each stage once.
  case drillStart([DrillDocument.Stage])
  case drillStop
  /// `admin`: the new parent may administer the child, too.
  case pairingOpen(admin: Bool)
  case pairingClose
  case pairsList
  /// Without an id: the caller's own pair.
  case pairRemove(id: String?)
  case inviteCreate(InviteRequest)
  /// Seconds since 1970-01-01 UTC; nil: no limit.
  case recordingsList(from: Double?, to: Double?)
  /// From this byte on.
  case recordingsRead(id: String, offset: Int)
  case recordingsStart
  case recordingsStop
  case pushKey
  case pushSubscribe(PushSubscribeRequest)
  case pushUnsubscribe
  case pushTest

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
    case .reportGet: .reportGet
    case .alarmNote: .alarmNote
    case .hearingTest: .hearingTest
    case .hearingHeard: .hearingHeard
    case .drillStart: .drillStart
    case .drillStop: .drillStop
    case .pairingOpen: .pairingOpen
    case .pairingClose: .pairingClose
    case .pairsList: .pairsList
    case .pairRemove: .pairRemove
    case .inviteCreate: .inviteCreate
    case .recordingsList: .recordingsList
    case .recordingsRead: .recordingsRead
    case .recordingsStart: .recordingsStart
    case .recordingsStop: .recordingsStop
    case .pushKey: .pushKey
    case .pushSubscribe: .pushSubscribe
    case .pushUnsubscribe: .pushUnsubscribe
    case .pushTest: .pushTest
    }
  }
}

/// `light.set`
public struct LightSetting: Hashable, Sendable {
  public enum Switch: String, CaseIterable, Sendable {
    case on, off, toggle
  }

  /// Nil: the first light.
  public var id: String?
  public var state: Switch
  /// Percent; nil keeps the previous brightness, 0 is off. Not with `off`.
  public var brightness: Int?
  /// Seconds until it goes out by itself; nil: stays on. Not with `off`.
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
  /// Nil: the first light.
  public var id: String?
  public var times: Int?
  /// Length of a flash, and of the pause after it.
  public var milliseconds: Int?

  public init(id: String? = nil, times: Int? = nil, milliseconds: Int? = nil) {
    self.id = id
    self.times = times
    self.milliseconds = milliseconds
  }
}

/// `lullaby.play`
public struct LullabyRequest: Hashable, Sendable {
  /// Nil: the last one played, else the first.
  public var track: String?
  /// Percent; nil keeps the previous volume.
  public var volume: Int?
  /// Seconds until it ends; 0: it does not end by itself.
  public var seconds: Int?
  /// Start over at the end of the track.
  public var loop: Bool?
  /// Length of the fade-out at the end.
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
  /// How long the guest has access.
  public var seconds: Int?
  /// Never `admin`; nil: `view` and `listen`.
  public var allow: Permissions?

  public init(name: String? = nil, seconds: Int? = nil, allow: Permissions? = nil) {
    self.name = name
    self.seconds = seconds
    self.allow = allow
  }
}
