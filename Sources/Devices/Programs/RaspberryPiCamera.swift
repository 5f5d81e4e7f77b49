internal import DeviceNames
internal import Frames
internal import Linux
internal import Wire

/// A camera on the ribbon cable of a Raspberry Pi, through Raspberry Pi OS's `rpicam-vid`. libcamera itself is not linked:
/// its ABI changes with each release, this pipe does not.
enum RaspberryPiCamera {
  static let program = "rpicam-vid"
  /// rpicam-vid writes whole rows of the hardware's buffers, which are padded to this many bytes.
  static let widthMultiple = 64

  /// rpicam-vid's words when it finds none.
  static let noCameras = "ERROR: *** no cameras available ***"

  static func isRaspberryPi(_ files: SystemFiles = SystemFiles()) -> Bool {
    files.text("/sys/firmware/devicetree/base/model")?.hasPrefix("Raspberry Pi") ?? false
  }

  static func open(_ opening: CameraOpening) throws(DeviceError) -> ProgramCamera {
    guard let number = Int(opening.device.argument) else {
      preconditionFailure("the name was checked when it was read")
    }
    return try open(number: number, request: opening.request, demand: opening.demand)
  }

  static func open(
    number: Int, request: VideoRequest, demand: Demand?, program: [String] = [program]
  ) throws(DeviceError) -> ProgramCamera {
    let device = "rpicam:\(number)"
    guard request.width % widthMultiple == 0 else {
      throw DeviceError(
        device: device, reason: .unsupportedFormat("its width must be a multiple of \(widthMultiple)"),
        advice: "Ask for 640x480, 1280x720 or 1920x1080.")
    }
    return try ProgramCamera(
      device: device, name: "Raspberry Pi camera \(number)", words: program + arguments(number: number, request),
      format: .fullRange(
        width: request.width, height: request.height & ~1, framesPerSecond: request.framesPerSecond),
      request: request, demand: demand, size: configuredSize, orientation: ownOrientation(request), advice: advice)
  }

  /// What the camera's hardware turns at no cost. It knows no quarter turns; those are left to us, with all that goes with them.
  private static func ownOrientation(_ request: VideoRequest) -> Orientation {
    request.orientation.exchangesSides ? Orientation() : request.orientation
  }

  /// `--flush`: every picture at once; `--timeout 0`: without end.
  static func arguments(number: Int, _ request: VideoRequest) -> [String] {
    let settings = request.raspberryPi
    var result = [
      "--camera", "\(number)", "--codec", "yuv420", "--width", "\(request.width)", "--height",
      "\(request.height & ~1)", "--framerate", rate(request.framesPerSecond), "--timeout", "0", "--nopreview",
      "--flush", "--awb", settings.whiteBalance,
    ]
    let orientation = ownOrientation(request)
    switch (orientation.rotation == .half, orientation.isMirrored) {
    case (false, false): break
    case (false, true): result += ["--hflip"]
    case (true, false): result += ["--rotation", "180"]
    case (true, true): result += ["--vflip"]
    }
    if let mode = settings.mode { result += ["--mode", mode] }
    if let file = settings.tuningFile { result += ["--tuning-file", file] }
    if settings.shutter > 0 { result += ["--shutter", "\(settings.shutter)"] }
    if settings.gain > 0 { result += ["--gain", "\(settings.gain)"] }
    return result + ["--output", "-"]
  }

  private static func rate(_ rate: Double) -> String {
    rate == rate.rounded() ? "\(Int(saturating: rate))" : "\(rate)"
  }

  /// The size that libcamera has set, from its own message: `configuring streams: (0) 1280x720-YUV420/sYCC (1) …`
  /// (camera.cpp of libcamera, level INFO).
  static func configuredSize(_ said: String) -> (width: Int, height: Int)? {
    guard let match = said.matches(of: #/configuring streams: \(0\) (\d{1,5})x(\d{1,5})-YUV420/#).last,
      let width = Int(match.1), let height = Int(match.2)
    else { return nil }
    return (width, height)
  }

  /// By the messages of rpicam-apps' sources (core/rpicam_app.cpp).
  @Sendable static func advice(_ words: String) -> String? {
    advices.first { words.contains($0.words) }?.advice
  }

  private static let advices: [(words: String, advice: String)] = [
    ("no program", "Install Raspberry Pi OS's camera programs: sudo apt install rpicam-apps-lite"),
    (
      "no cameras available",
      "Switch the Pi off and seat the ribbon cable at both ends; `rpicam-hello --list-cameras` must list it."
    ),
    ("selected camera is not available", "`rpicam-hello --list-cameras` says which numbers there are."),
    (
      "legacy camera stack",
      "Switch it off: sudo raspi-config, Interface Options, Legacy Camera; then restart the Pi."
    ),
    ("failed to acquire camera", "Another program uses it; `pgrep -a rpicam` and `pgrep -a libcamera` find it."),
    (
      "only supports the Raspberry Pi platforms",
      "On other boards name a program that writes Y4M: device: \"exec:COMMAND\"."
    ),
    ("Device timeout", "The sensor stopped answering: check the ribbon cable and the power supply."),
  ]
}
