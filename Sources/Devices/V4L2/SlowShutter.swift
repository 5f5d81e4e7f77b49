internal import CLinux
internal import DeviceNames

/// Lets a camera's automatic exposure take longer than a frame interval while that is wanted, so that in the dark the
/// frame rate falls and the picture stays bright: V4L2_CID_EXPOSURE_AUTO_PRIORITY, "Exposure, Dynamic Framerate".
struct SlowShutter<Calls: ControlCalls> {
  private let calls: Calls
  /// The value that the camera had.
  private let byDay: Int64
  private var isSlow = false
  /// One failure is enough: the camera does not have it, or is being unplugged.
  private var isUsable = true

  /// Nil for a camera without the control, or when the configuration sets it itself.
  init?(_ controls: CameraControls<Calls>, settings: [CameraControl]) {
    let id = CLINUX_CID_EXPOSURE_AUTO_PRIORITY
    guard let control = controls.all.first(where: { $0.id == id }), !control.description.isReadOnly,
      let value = control.description.value,
      !settings.contains(where: { controls.find($0.name)?.id == id })
    else { return nil }
    calls = controls.calls
    byDay = value
  }

  /// An ioctl on a change, none otherwise.
  mutating func follow(isWanted: Bool) {
    guard isUsable, isWanted != isSlow else { return }
    isSlow = isWanted
    isUsable = calls.set(CLINUX_CID_EXPOSURE_AUTO_PRIORITY, isLong: false, to: isWanted ? 1 : byDay) == 0
  }
}
