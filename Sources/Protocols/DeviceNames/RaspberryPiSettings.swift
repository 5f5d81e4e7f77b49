/// How `rpicam-vid` is called: `cameras[].rpicam`. Its options are described by `rpicam-vid --help` and
/// https://www.raspberrypi.com/documentation/computers/camera_software.html.
public struct RaspberryPiSettings: Hashable, Sendable {
  /// The sensor's mode, `WIDTH:HEIGHT:BITS:PACKING`; nil: chosen by rpicam-vid.
  public var mode: String?
  /// A tuning file, for example that of the NoIR camera; nil: by the sensor.
  public var tuningFile: String?
  /// One of `whiteBalances`.
  public var whiteBalance: String
  /// Exposure time in microseconds, up to 10 s; 0: automatic.
  public var shutter: Int
  /// Analogue gain, 1...64; 0: automatic.
  public var gain: Int

  public static let whiteBalances = [
    "auto", "incandescent", "tungsten", "fluorescent", "indoor", "daylight", "cloudy",
  ]

  public init(
    mode: String? = nil, tuningFile: String? = nil, whiteBalance: String = "auto", shutter: Int = 0, gain: Int = 0
  ) {
    self.mode = mode
    self.tuningFile = tuningFile
    self.whiteBalance = whiteBalance
    self.shutter = shutter
    self.gain = gain
  }
}
