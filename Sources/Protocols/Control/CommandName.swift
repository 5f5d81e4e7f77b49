public import Pairing

/// The commands of the control channel: the table in interfaces/wire.md, "Data channel".
public enum CommandName: String, CaseIterable, Sendable {
  case ping
  case statusGet = "status.get"
  case lightSet = "light.set"
  case lightFlash = "light.flash"
  case lullabyList = "lullaby.list"
  case lullabyPlay = "lullaby.play"
  case lullabyStop = "lullaby.stop"
  case lullabyPause = "lullaby.pause"
  case lullabyResume = "lullaby.resume"
  case lullabyNext = "lullaby.next"
  case lullabyVolume = "lullaby.volume"
  case cameraList = "camera.list"
  case cameraSwitch = "camera.switch"
  case screenshotTake = "screenshot.take"
  case talkAcquire = "talk.acquire"
  case talkRelease = "talk.release"
  case eventsGet = "events.get"
  /// `from`, `to` (seconds since 1970-01-01 UTC, at most 366 days apart), `noiseDb?`: `report`, a `ReportDocument`.
  case reportGet = "report.get"
  /// An alarm that rang at the caller's: `kind`, `level`, `began`, `acknowledgedAt?`. No parameters in the reply.
  case alarmNote = "alarm.note"
  /// Begins a proof of hearing: `hearing`, a `HearingDocument`. `busy` while one runs.
  case hearingTest = "hearing.test"
  /// The caller has heard the chirp of the test `number` with `share`, or measures the noise floor `levelDb`. No parameters
  /// in the reply.
  case hearingHeard = "hearing.heard"
  /// Begins a fire drill: `stages?` (`link`, `camera`, `microphone`; all of them): `drill`, a `DrillDocument`. `busy` while
  /// one runs or ten minutes after the last one, `unavailable` when no paired parent watches.
  case drillStart = "drill.start"
  /// Ends it before its time. No parameters in the reply.
  case drillStop = "drill.stop"
  /// Opens the pairing window: `admin?` (the new parent may administer the child, too; else false): `pairing: {code,
  /// link, expiresAt, allow}`. It closes when the caller's pair is removed, expires or loses `admin`.
  case pairingOpen = "pairing.open"
  /// Closes it: no parameters in the reply.
  case pairingClose = "pairing.close"
  /// `pairs: [{id, name, permissions, createdAt, lastSeenAt, expiresAt}]`.
  case pairsList = "pairs.list"
  /// `id?`; without it the caller's own pair, which needs no permission. No parameters in the reply; the parent's open
  /// sessions end after it.
  case pairRemove = "pair.remove"
  /// `name?`, `seconds?` (how long the guest has access), `allow?` (names of permissions that the caller has itself):
  /// `invite: {name, link, allow, expiresAt}`. It ends under the same conditions as the window.
  case inviteCreate = "invite.create"
  /// What the child has recorded, the newest last: `from?`, `to?` (seconds since 1970-01-01 UTC): `recordings`, a
  /// `RecordingsDocument`.
  case recordingsList = "recordings.list"
  /// A piece of a part: `id`, `offset?` (bytes): a transfer of at most `ControlLimits.recordingPieceBytes`.
  case recordingsRead = "recordings.read"
  /// Records until `recordings.stop`. No parameters in the reply.
  case recordingsStart = "recordings.start"
  case recordingsStop = "recordings.stop"
  /// What a browser needs to subscribe to pushed alarms: a `PushKeyDocument`.
  case pushKey = "push.key"
  /// `endpoint`, `p256dh`, `auth`, `kinds?`: the subscription of the caller's pair, in place of an earlier one. No
  /// parameters in the reply.
  case pushSubscribe = "push.subscribe"
  /// Ends the subscription of the caller's pair. No parameters in the reply.
  case pushUnsubscribe = "push.unsubscribe"
  /// Pushes a message to the caller's browser: a `PushTestDocument`. `busy` while one is under way, `unavailable` without a
  /// subscription.
  case pushTest = "push.test"
}

extension CommandName {
  /// The commands that a child with these devices supports, for `hello`, whether or not a device works right now.
  public static func capabilities(lights: Bool, speaker: Bool, cameras: Bool, recordings: Bool) -> [CommandName] {
    allCases.filter { name in
      switch name {
      case .lightSet, .lightFlash: lights
      case .lullabyList, .lullabyPlay, .lullabyStop, .lullabyPause, .lullabyResume, .lullabyNext, .lullabyVolume,
        .talkAcquire, .talkRelease:
        speaker
      case .cameraList, .cameraSwitch, .screenshotTake: cameras
      case .recordingsList, .recordingsRead, .recordingsStart, .recordingsStop: recordings
      case .ping, .statusGet, .eventsGet, .reportGet, .alarmNote, .hearingTest, .hearingHeard, .drillStart, .drillStop,
        .pairingOpen,
        .pairingClose, .pairsList, .pairRemove, .inviteCreate, .pushKey, .pushSubscribe, .pushUnsubscribe, .pushTest:
        true
      }
    }
  }
}

/// The permissions that a command needs.
public enum Requirement: Hashable, Sendable {
  /// None: an open session is enough.
  case session
  /// At least one of these.
  case any(Permissions)
  /// All of these.
  case all(Permissions)

  public func isMet(by permissions: Permissions) -> Bool {
    switch self {
    case .session: true
    case .any(let some): !permissions.isDisjoint(with: some)
    case .all(let all): permissions.isSuperset(of: all)
    }
  }
}

extension ControlCommand {
  /// The permissions that the command needs.
  public var requirement: Requirement {
    switch self {
    case .ping: .session
    case .statusGet, .eventsGet, .reportGet: .any([.view, .listen, .control, .admin])
    case .alarmNote, .pushKey, .pushSubscribe, .pushTest: .any([.view, .listen])
    // It makes a sound in the room.
    case .hearingTest: .all([.listen, .control])
    case .hearingHeard: .all(.listen)
    case .drillStart: .all(.control)
    // It keeps the family from hearing its baby: whoever is paired may end it.
    case .drillStop: .session
    case .cameraList: .any([.view, .control])
    case .lightSet, .lightFlash, .cameraSwitch, .lullabyList, .lullabyPlay, .lullabyStop, .lullabyPause,
      .lullabyResume, .lullabyNext, .lullabyVolume:
      .all(.control)
    // A still picture shows what the live one does.
    case .screenshotTake: .all([.view, .control])
    case .talkAcquire(let force): .all(force ? [.talk, .admin] : .talk)
    case .talkRelease: .all(.talk)
    case .pushUnsubscribe: .session
    // Everybody may remove themselves.
    case .pairRemove(let id): id == nil ? .session : .all(.admin)
    case .pairingOpen, .pairingClose, .pairsList, .inviteCreate: .all(.admin)
    // An administrator can give the permission to everybody.
    case .recordingsList, .recordingsRead, .recordingsStart, .recordingsStop: .any([.recordings, .admin])
    }
  }

  /// Throws `not-permitted` unless `permissions` suffice. Called for every command, because permissions can change or
  /// expire during a session.
  public func check(_ permissions: Permissions) throws(ControlError) {
    guard !requirement.isMet(by: permissions) else { return }
    let needed =
      switch requirement {
      case .session: ""
      case .any(let some): some.names.joined(separator: " or ")
      case .all(let all): all.names.joined(separator: " and ")
      }
    throw ControlError(.notPermitted, "\"\(name.rawValue)\" needs the permission \(needed).")
  }
}
