public import DeviceNames
internal import Wire

// The devices of child.yaml: what there is of each, and its keys.

extension ChildConfiguration {
  public struct Camera: Sendable, Hashable {
    /// 1...32 letters, digits, `-` and `_`; unique.
    public var id: String
    public var device = VideoDevice.auto
    /// Nearly every USB camera delivers 720p30 as MJPEG. Width and height are even, 16...7680 and 16...4320, the rate is 1...120.
    public var request = VideoRequest(width: 1280, height: 720, framesPerSecond: 30)
    /// When lamp, slow shutter and noise filter are on. By the picture's brightness: it needs no clock and no season.
    public var night = NightMode.auto
    /// The infrared lamp that goes with the night.
    public var infrared = LightDevice.off

    static let keys: [ConfigurationKey<Camera>] = [
      .id(\.id),
      .value("device", \.device),
      .integer("width", \.request.width, in: 16...7680, mustBeEven: true),
      .integer("height", \.request.height, in: 16...4320, mustBeEven: true),
      .init("framerate") { entry, camera in
        camera.request.framesPerSecond = entry.roundedNumber(
          "framerate", default: camera.request.framesPerSecond, in: 1...120)
      },
      .value("rotate", \.request.orientation.rotation),
      .boolean("mirror", \.request.orientation.isMirrored),
      .section("rpicam", \.request.raspberryPi, raspberryPiKeys),
      .init("controls") { $1.request.controls = controls($0, of: $1.device) },
      .boolean("slow-shutter", \.request.hasSlowShutter),
      .value("night", \.night),
      .value("infrared", \.infrared),
    ]
  }

  public struct Microphone: Sendable, Hashable {
    public var device = AudioDevice.auto
    /// How much louder it is made.
    public var gain = MicrophoneGain.none
    /// Nothing but zeros is a quiet room, not a microphone that has failed.
    public var mayBeSilent = false

    static let keys: [ConfigurationKey<Microphone>] = [
      .value("device", \.device), .value("gain", \.gain), .boolean("may-be-silent", \.mayBeSilent),
    ]
  }

  public struct Speaker: Sendable, Hashable {
    public var device = SpeakerDevice.auto
    /// Percent, 0...100; no command can exceed it. Loud enough for a lullaby across a room, but not harmful to a child's ears
    /// beside the cot.
    public var maximumVolume = 60

    static let keys: [ConfigurationKey<Speaker>] = [
      .value("device", \.device), .integer("maximum-volume", \.maximumVolume, in: 0...100),
    ]
  }

  public struct Light: Sendable, Hashable {
    /// 1...32 letters, digits, `-` and `_`; unique.
    public var id: String
    /// The GPIO line of a lamp cannot be guessed.
    public var device = LightDevice.off

    static let keys: [ConfigurationKey<Light>] = [.id(\.id), .value("device", \.device)]
  }
}

extension ChildConfiguration.Camera {
  fileprivate static let raspberryPiKeys: [ConfigurationKey<RaspberryPiSettings>] = [
    .init("mode") { entry, settings in
      settings.mode = entry.text("mode", what: "WIDTH:HEIGHT:BITS:PACKING, such as 1640:1232:10:P") { text in
        text.wholeMatch(of: #/\d{1,5}:\d{1,5}(:\d{1,2}(:[PU])?)?/#) != nil
      }
    },
    .init("tuning-file") { $1.tuningFile = $0.text("tuning-file", what: "a file", isAllowed: \.isPlainPath) },
    .init("awb") { entry, settings in
      let names = RaspberryPiSettings.whiteBalances
      settings.whiteBalance =
        entry.text("awb", what: "one of " + names.joined(separator: ", "), isAllowed: names.contains) ?? "auto"
    },
    .integer("shutter", \.shutter, in: 0...10_000_000),
    .integer("gain", \.gain, in: 0...64),
  ]

  /// Names are any: which ones a camera has is known when it is opened.
  fileprivate static func controls(_ entry: ConfigurationSection, of device: VideoDevice) -> [CameraControl] {
    guard let node = entry.values["controls"], !node.isNull else { return [] }
    let path = entry.path("controls")
    guard let mapping = node.mapping else {
      entry.reader.report(node, path, "must be names with numbers, such as {gain: 40}, but is \(node.kind)")
      return []
    }
    guard mapping.count <= 64 else {
      entry.reader.report(node, path, "has \(mapping.count) entries; there can be 64")
      return []
    }
    guard device.kind.traits.hasControls else {
      if !mapping.isEmpty {
        entry.reader.report(node, path, "only V4L2 cameras have them, and the device is \(device)")
      }
      return []
    }
    return mapping.compactMap { key, value in
      guard let name = key.scalar?.string, (1...31).contains(name.utf8.count), name == CameraControl.normalized(name)
      else {
        let hint = key.scalar.map { CameraControl.normalized($0.string) } ?? ""
        entry.reader.report(
          key, path, "names are of lower case letters, digits and _" + (hint.isEmpty ? "" : ", such as \(hint)"))
        return nil
      }
      guard let number = ConfigurationSection.controlValue(value) else {
        entry.reader.report(value, "\(path).\(name)", "must be a whole number, true or false, but is \(value.kind)")
        return nil
      }
      return CameraControl(name: name, value: number)
    }
  }
}
