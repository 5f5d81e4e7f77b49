public import DeviceNames
public import Frames

/// Opens the camera that the configuration names.
public enum VideoSources {
  /// Opens a device in the mode nearest to `request`; `info` of the result has the actual mode.
  ///
  /// While `demand` is off, only the first picture is made and delivered. While `slowShutter` is wanted, a V4L2 camera's
  /// automatic exposure may take longer than a frame interval.
  public static func open(
    _ device: VideoDevice, request: VideoRequest, demand: Demand? = nil, slowShutter: Demand? = nil
  ) throws(DeviceError) -> any VideoSource {
    try open(CameraOpening(device: device, request: request, demand: demand, slowShutter: slowShutter))
  }

  static func open(_ opening: CameraOpening) throws(DeviceError) -> any VideoSource {
    let source = try openDevice(opening)
    let orientation = opening.request.orientation
    // One that turns its pictures by itself says so.
    return source.info.orientation == orientation ? source : TurnedSource(source, orientation)
  }

  private static func openDevice(_ opening: CameraOpening) throws(DeviceError) -> any VideoSource {
    switch opening.device.kind {
    case .auto: try AutomaticCamera.open(opening)
    case .test: TestCamera.open(opening)
    case .v4l2: try V4L2Camera.open(opening)
    case .raspberryPi: try RaspberryPiCamera.open(opening)
    case .file: try FileCamera.open(opening)
    case .program: try ProgramCamera.open(opening)
    }
  }

  static func fileName(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }
}

/// What a camera is opened with.
struct CameraOpening {
  var device: VideoDevice
  var request: VideoRequest
  /// Devices that `auto` tries last: those that open but deliver nothing.
  var avoiding: Set<String> = []
  var demand: Demand?
  var slowShutter: Demand?
  /// Finds a device again that comes back under another number.
  var stableName = StableName()
}
