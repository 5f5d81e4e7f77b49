/// The commands of the control channel: the table in interfaces/wire.md, "Data channel".
public enum ControlCommands {
  /// In the order in which `hello` lists them.
  public static let all: [any ControlCommand.Type] = [
    Ping.self, StatusGet.self, LightSet.self, LightFlash.self, LullabyList.self, LullabyPlay.self, LullabyStop.self,
    LullabyPause.self, LullabyResume.self, LullabyNext.self, LullabyVolume.self, CameraList.self, CameraSwitch.self,
    CameraName.self, CameraPause.self, CameraResume.self,
    ScreenshotTake.self, TalkAcquire.self, TalkRelease.self, EventsGet.self, ReportGet.self, AlarmNote.self,
    HearingTestStart.self, HearingHeard.self, DrillStart.self, DrillStop.self, PairingOpen.self, PairingClose.self,
    PairsList.self, PairRemove.self, InviteCreate.self, RecordingsList.self, RecordingsRead.self,
    RecordingsStart.self, RecordingsStop.self, PushKeyGet.self, PushSubscribe.self, PushUnsubscribe.self,
    PushTest.self,
  ]

  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  /// The command with this name on the wire; nil if there is none.
  public static func named(_ name: String) -> (any ControlCommand.Type)? { byName[name] }

  /// The names of the commands that a child with these devices supports, for `hello`, whether or not a device works right now.
  public static func capabilities(_ devices: Set<ControlDevice>) -> [String] {
    all.filter { $0.device.map(devices.contains) ?? true }.map { $0.name }
  }
}
