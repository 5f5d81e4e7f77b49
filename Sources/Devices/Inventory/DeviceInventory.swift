/// What is plugged in, for `cradle-child devices` and `check`. Nothing is opened for longer than a question takes.
public struct DeviceInventory: Codable, Hashable, Sendable {
  public var cameras: [CameraDescription]
  public var microphones: [SoundDescription]
  public var speakers: [SoundDescription]
  public var gpioChips: [GPIOChipDescription]
  public var leds: [LEDDescription]
  public var sensors: [SensorDescription]

  /// Asks the whole system; takes some ten milliseconds, with slow USB cameras more.
  public static func read() -> DeviceInventory {
    DeviceInventory(
      cameras: CameraDescription.all(), microphones: SoundDescription.all(.capture),
      speakers: SoundDescription.all(.playback), gpioChips: GPIOChipDescription.all(), leds: LEDDescription.all(),
      sensors: SensorDescription.all())
  }
}

/// A V4L2 camera.
public struct CameraDescription: Codable, Hashable, Sendable {
  /// /dev/videoN; N may change when cameras are plugged in another order.
  public var device: String
  /// The link below /dev/v4l/by-id (or by-path) that stays the same; nil if udev made none.
  public var stableDevice: String?
  /// The driver's name for it.
  public var name: String
  /// Where it is plugged in.
  public var bus: String
  /// Every mode that can be used; empty if `problem` says why.
  public var modes: [Mode]
  /// Four-character codes that the camera offers and this program cannot use.
  public var otherFormats: [String]
  /// Why it cannot be used now.
  public var problem: String?

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
    return VideoSources.nodes().compactMap { describe($0, stableDevice: links[$0]) }
  }

  /// Nil for a node that is no camera.
  private static func describe(_ path: String, stableDevice: String?) -> CameraDescription? {
    do throws(DeviceError) {
      let device = try CameraDevice(path: path)
      let other = device.formats().filter { CameraFormat(fourcc: $0) == nil }
      return CameraDescription(
        device: path, stableDevice: stableDevice, name: device.name, bus: device.bus,
        modes: device.modes(near: nil).map(Mode.init), otherFormats: other.map { CameraFormat.name(ofFourcc: $0) })
    } catch {
      if case .unsupportedFormat = error.reason { return nil }
      return CameraDescription(
        device: path, stableDevice: stableDevice, name: "", bus: "", modes: [], otherFormats: [],
        problem: error.description)
    }
  }

  /// Node → link. A camera's serial number (by-id) is worth more than its socket (by-path).
  private static func stableLinks() -> [String: String] {
    var links: [String: String] = [:]
    for folder in ["/dev/v4l/by-path", "/dev/v4l/by-id"] {
      for name in Directory.names(in: folder) {
        if let node = Directory.resolved("\(folder)/\(name)") { links[node] = "\(folder)/\(name)" }
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
  /// What the configuration file may name.
  public var device: String
  public var name: String
  /// True for a card's own device, false for a name that ALSA's configuration makes up.
  public var isHardware: Bool

  static func all(_ direction: ALSADevices.Direction) -> [SoundDescription] {
    ALSADevices.hardware(direction).map { SoundDescription(device: $0.name, name: $0.title, isHardware: true) }
      + ALSADevices.configured(direction)
      // Each card's own devices are listed above; these are the same under other names.
      .filter { !$0.name.contains("CARD=") }
      .map { SoundDescription(device: $0.name, name: $0.title, isHardware: false) }
  }
}
