internal import Linux

/// The connected devices, for `cradle-child devices` and `check`. Each is opened only for as long as a query takes.
public struct DeviceInventory: Codable, Hashable, Sendable {
  public var cameras: [CameraDescription]
  public var raspberryPiCameras: [RaspberryPiDescription]
  public var microphones: [SoundDescription]
  public var speakers: [SoundDescription]
  public var gpioChips: [GPIOChipDescription]
  public var leds: [LEDDescription]
  public var sensors: [SensorDescription]

  /// Queries the whole system; takes tens of milliseconds, longer with slow USB cameras.
  public static func read() -> DeviceInventory {
    DeviceInventory(
      cameras: CameraDescription.all(), raspberryPiCameras: RaspberryPiDescription.all(),
      microphones: SoundDescription.all(.capture),
      speakers: SoundDescription.all(.playback), gpioChips: GPIOChipDescription.all(), leds: LEDDescription.all(),
      sensors: SensorDescription.all())
  }
}

/// A V4L2 camera.
public struct CameraDescription: Codable, Hashable, Sendable {
  /// /dev/videoN; N may change when cameras are plugged in in another order.
  public var device: String
  /// The persistent link in /dev/v4l/by-id, or by-path where another camera has the same serial number; nil if udev made none.
  public var stableDevice: String?
  /// The driver's name for it.
  public var name: String
  /// The bus address where it is plugged in.
  public var bus: String
  /// Every usable mode; empty if `problem` says why.
  public var modes: [Mode]
  /// FourCCs that the camera offers but this program cannot use.
  public var otherFormats: [String]
  /// What can be set, for `controls` in the configuration.
  public var controls: [CameraControlDescription]
  /// Why it cannot be used at the moment.
  public var problem: String?
  /// Another camera has its serial number: its name in by-id leads to whichever was plugged in last.
  public var sharesSerialNumber: Bool?

  public struct Mode: Codable, Hashable, Sendable {
    /// Four characters: "YUYV", "MJPG", ….
    public var format: String
    /// Pixels.
    public var width: Int
    public var height: Int
    /// Highest first; empty if the driver does not say.
    public var framesPerSecond: [Double]
  }

  static func all() -> [CameraDescription] {
    let links = stableLinks()
    return AutomaticCamera.nodes().compactMap { node in
      var camera = describe(node, stableDevice: links[node])
      if StableName().sharesSerialNumber(node) { camera?.sharesSerialNumber = true }
      return camera
    }
  }

  /// Nil for a node that is not a camera.
  private static func describe(_ path: String, stableDevice: String?) -> CameraDescription? {
    do throws(DeviceError) {
      let device = try CameraDevice(path: path)
      let other = device.formats().filter { CameraFormat(fourcc: $0) == nil }
      return CameraDescription(
        device: path, stableDevice: stableDevice, name: device.name, bus: device.bus,
        modes: device.modes(near: nil).map(Mode.init), otherFormats: other.map { CameraFormat.name(ofFourcc: $0) },
        controls: CameraControls(SystemControlCalls(descriptor: device.file.descriptor)).all.map(\.description))
    } catch {
      if case .unsupportedFormat = error.reason { return nil }
      return CameraDescription(
        device: path, stableDevice: stableDevice, name: "", bus: "", modes: [], otherFormats: [], controls: [],
        problem: error.description)
    }
  }

  /// Node → link. by-id (the camera's serial number) takes precedence over by-path (its socket).
  private static func stableLinks() -> [String: String] {
    var links: [String: String] = [:]
    for folder in ["/dev/v4l/by-path", "/dev/v4l/by-id"] {
      for name in SystemFiles().names(folder) {
        guard let node = SystemFiles().resolved("\(folder)/\(name)") else { continue }
        if links[node] == nil || !StableName().sharesSerialNumber(node) { links[node] = "\(folder)/\(name)" }
      }
    }
    return links
  }
}

extension CameraDescription.Mode {
  init(_ mode: CameraMode) {
    format = mode.format.name
    width = mode.width
    height = mode.height
    switch mode.rates {
    case .discrete(let intervals): framesPerSecond = intervals.map(\.framesPerSecond).sorted(by: >)
    case .range(let shortest, let longest): framesPerSecond = [shortest.framesPerSecond, longest.framesPerSecond]
    case .unknown: framesPerSecond = []
    }
  }
}

/// A microphone or a speaker: one PCM device of a card, or a name of the ALSA configuration.
public struct SoundDescription: Codable, Hashable, Sendable {
  /// The name to use in the configuration file.
  public var device: String
  public var name: String
  /// True for a card's PCM device, false for a name defined in ALSA's configuration.
  public var isHardware: Bool

  static func all(_ direction: ALSADevices.Direction) -> [SoundDescription] {
    ALSADevices.hardware(direction).map { SoundDescription(device: $0.name, name: $0.title, isHardware: true) }
      + ALSADevices.configured(direction)
      // Names with CARD= are the card devices listed above again.
      .filter { !$0.name.contains("CARD=") }
      .map { SoundDescription(device: $0.name, name: $0.title, isHardware: false) }
  }
}
