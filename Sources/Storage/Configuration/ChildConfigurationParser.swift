internal import DeviceNames
internal import TURN
internal import Wire

extension ChildConfiguration {
  /// Reads a configuration file; nil if there is none. Throws all errors found in it.
  public static func load(path: String) throws(ConfigurationErrors) -> ChildConfiguration? {
    guard let bytes = try ConfigurationReader.content(of: path) else { return nil }
    return try parse(bytes, file: path)
  }

  /// Parses the text of a configuration file. `file` is only used in errors.
  public static func parse(_ bytes: [UInt8], file: String) throws(ConfigurationErrors) -> ChildConfiguration {
    try ConfigurationReader.parse(bytes, file: file, read: read) ?? .defaults
  }

  // MARK: - Keys

  private static let keys = [
    "name", "listen", "tls", "media-ports", "mark-media", "cameras", "microphone", "speaker", "lights", "lullabies",
    "video",
    "unheard", "hearing-test", "ice-servers", "away", "notify", "push", "record",
  ]

  private static func read(_ root: YAMLNode, _ reader: ConfigurationReader) -> ChildConfiguration {
    var result = ChildConfiguration.defaults
    guard let top = reader.section(root, path: "", keys: keys) else { return result }
    result.name = top.text("name", what: "1 to 63 bytes of printable text") { name in
      (1...63).contains(name.utf8.count) && name.unicodeScalars.allSatisfy(\.isPrintable)
        && name.first != " " && name.last != " "
    }
    result.listen = top.value("listen", default: result.listen)
    result.tls = tls(top)
    result.mediaPorts = mediaPorts(top)
    result.marksMedia = top.boolean("mark-media", default: result.marksMedia)
    if let entries = top.list("cameras", maximum: 8) {
      result.cameras = entries.indices.compactMap { camera(entries[$0], at: $0, reader) }
      refuseDuplicates(result.cameras.map(\.id), entries, "cameras", reader)
    }
    if let microphone = top.section("microphone", keys: ["device", "gain", "may-be-silent"]) {
      result.microphone.device = microphone.value("device", default: result.microphone.device)
      result.microphone.gain = microphone.value("gain", default: result.microphone.gain)
      result.microphone.mayBeSilent = microphone.boolean("may-be-silent", default: result.microphone.mayBeSilent)
    }
    if let speaker = top.section("speaker", keys: ["device", "maximum-volume"]) {
      result.speaker.device = speaker.value("device", default: result.speaker.device)
      result.speaker.maximumVolume = speaker.integer(
        "maximum-volume", default: result.speaker.maximumVolume, in: 0...100)
    }
    if let entries = top.list("lights", maximum: 16) {
      result.lights = entries.indices.compactMap { light(entries[$0], at: $0, reader) }
      refuseDuplicates(result.lights.map(\.id), entries, "lights", reader)
    }
    refuseSharedLamps(result, top)
    result.lullabies = top.text("lullabies", what: "a directory", isAllowed: \.isPlainPath) ?? result.lullabies
    if let video = top.section("video", keys: ["bitrate-kbps"]) {
      result.video.bitrateKbps = video.integerPair(
        "bitrate-kbps", default: result.video.bitrateKbps, in: 30...50000)
    }
    if let node = top.values["unheard"], !node.isNull {
      result.unheard = node.scalar.flatMap { ConfiguredTime.duration($0.string) }
      if result.unheard.map({ (.seconds(30)...Duration.seconds(86_400)).contains($0) }) != true {
        reader.report(node, "unheard", "must be null or a time from 30s to 24h, such as 5m; but is \(node.kind)")
        result.unheard = nil
      }
    }
    if let node = top.values["hearing-test"], !node.isNull {
      result.hearingTest = node.scalar.flatMap { ConfiguredTime.minutesOfDay($0.string) }
      if result.hearingTest == nil {
        reader.report(node, "hearing-test", "must be null or a time of day, such as \"19:30\"; but is \(node.kind)")
      }
    }
    if let entries = top.list("ice-servers", maximum: 8) {
      result.iceServers = entries.indices.compactMap { iceServer(entries[$0], at: $0, reader) }
    }
    result.away = away(top)
    result.push = push(top)
    result.recording = recording(top)
    if let entries = top.list("notify", maximum: 8) {
      result.notifiers = entries.indices.compactMap { notifier(entries[$0], at: $0, reader) }
      refuseDuplicates(result.notifiers.map(\.name), entries, "notify", key: "name", reader)
    }
    return result
  }

  static func tls(_ top: ConfigurationSection) -> TLSFiles? {
    if top.values["tls"]?.isNull ?? true { return nil }
    guard let tls = top.section("tls", keys: ["certificate", "key"]) else { return nil }
    let certificate = tls.text("certificate", what: "a PEM file", isAllowed: \.isPlainPath)
    let key = tls.text("key", what: "a PEM file", isAllowed: \.isPlainPath)
    switch (certificate, key) {
    case (let certificate?, let key?): return TLSFiles(certificate: certificate, key: key)
    case (nil, nil): return nil
    case (_?, nil): missing("key", beside: "certificate")
    case (nil, _?): missing("certificate", beside: "key")
    }
    return nil

    func missing(_ key: String, beside other: String) {
      // If it was present but refused, that has been reported already.
      if tls.values[key].map(\.isNull) ?? true {
        tls.reader.report(
          tls.values[key] ?? tls.values[other], tls.path(key), "must be given with \(other), or neither")
      }
    }
  }

  private static func mediaPorts(_ top: ConfigurationSection) -> ClosedRange<UInt16>? {
    let pair = top.integerPair("media-ports", default: 0...0, in: 0...65535)
    if pair == 0...0 { return nil }
    guard pair.lowerBound > 0, let low = UInt16(exactly: pair.lowerBound), let high = UInt16(exactly: pair.upperBound)
    else {
      top.reader.report(top.values["media-ports"], "media-ports", "must be [0, 0] for any, or ports from 1 on")
      return nil
    }
    return low...high
  }

  private static func camera(_ node: YAMLNode, at index: Int, _ reader: ConfigurationReader) -> Camera? {
    let keys = [
      "id", "device", "width", "height", "framerate", "rpicam", "controls", "slow-shutter", "night", "infrared",
    ]
    guard let entry = reader.section(node, path: "cameras[\(index)]", keys: keys) else { return nil }
    let fallback = camera(at: index)
    let device = entry.value("device", default: fallback.device)
    return Camera(
      id: id(entry) ?? fallback.id,
      device: device,
      width: entry.integer("width", default: fallback.width, in: 16...7680, mustBeEven: true),
      height: entry.integer("height", default: fallback.height, in: 16...4320, mustBeEven: true),
      framerate: entry.roundedNumber("framerate", default: fallback.framerate, in: 1...120),
      raspberryPi: raspberryPi(entry),
      controls: controls(entry, of: device),
      hasSlowShutter: entry.boolean("slow-shutter", default: fallback.hasSlowShutter),
      night: entry.value("night", default: fallback.night),
      infrared: entry.value("infrared", default: fallback.infrared))
  }

  /// Names are any: which ones a camera has is known when it is opened.
  private static func controls(_ camera: ConfigurationSection, of device: VideoDevice) -> [CameraControl] {
    guard let node = camera.values["controls"], !node.isNull else { return [] }
    let path = camera.path("controls")
    guard let mapping = node.mapping else {
      camera.reader.report(node, path, "must be names with numbers, such as {gain: 40}, but is \(node.kind)")
      return []
    }
    guard mapping.count <= 64 else {
      camera.reader.report(node, path, "has \(mapping.count) entries; there can be 64")
      return []
    }
    switch device {
    case .auto, .camera: break
    case .test, .raspberryPi, .program, .file:
      if !mapping.isEmpty {
        camera.reader.report(node, path, "only V4L2 cameras have them, and the device is \(device)")
      }
      return []
    }
    return mapping.compactMap { key, value in
      guard let name = key.scalar?.string, (1...31).contains(name.utf8.count), name == CameraControl.normalized(name)
      else {
        let hint = key.scalar.map { CameraControl.normalized($0.string) } ?? ""
        camera.reader.report(
          key, path, "names are of lower case letters, digits and _" + (hint.isEmpty ? "" : ", such as \(hint)"))
        return nil
      }
      guard let number = ConfigurationSection.controlValue(value) else {
        camera.reader.report(value, "\(path).\(name)", "must be a whole number, true or false, but is \(value.kind)")
        return nil
      }
      return CameraControl(name: name, value: number)
    }
  }

  /// A line or an LED serves one purpose: a second one would find it in use, or both would switch it.
  private static func refuseSharedLamps(
    _ configuration: ChildConfiguration, _ cameras: ConfigurationSection
  ) {
    var taken: [LightDevice: String] = [:]
    for (index, light) in configuration.lights.enumerated() { taken[light.device] = "lights[\(index)]" }
    for (index, camera) in configuration.cameras.enumerated() {
      if camera.infrared == .off || camera.infrared == .simulated { continue }
      if let other = taken.updateValue("cameras[\(index)].infrared", forKey: camera.infrared) {
        cameras.reader.report(
          cameras.values["cameras"], "cameras[\(index)].infrared", "“\(camera.infrared)” is taken by \(other)")
      }
    }
  }

  private static func raspberryPi(_ camera: ConfigurationSection) -> RaspberryPiSettings {
    var result = RaspberryPiSettings()
    let keys = ["mode", "tuning-file", "awb", "shutter", "gain"]
    guard let entry = camera.section("rpicam", keys: keys) else { return result }
    result.mode = entry.text("mode", what: "WIDTH:HEIGHT:BITS:PACKING, such as 1640:1232:10:P") { text in
      text.wholeMatch(of: #/\d{1,5}:\d{1,5}(:\d{1,2}(:[PU])?)?/#) != nil
    }
    result.tuningFile = entry.text("tuning-file", what: "a file", isAllowed: \.isPlainPath)
    let names = RaspberryPiSettings.whiteBalances
    result.whiteBalance =
      entry.text("awb", what: "one of " + names.joined(separator: ", "), isAllowed: names.contains) ?? "auto"
    result.shutter = entry.integer("shutter", default: 0, in: 0...10_000_000)
    result.gain = entry.integer("gain", default: 0, in: 0...64)
    return result
  }

  private static func light(_ node: YAMLNode, at index: Int, _ reader: ConfigurationReader) -> Light? {
    guard let entry = reader.section(node, path: "lights[\(index)]", keys: ["id", "device"]) else { return nil }
    let fallback = light(at: index)
    return Light(id: id(entry) ?? fallback.id, device: entry.value("device", default: fallback.device))
  }

  static func id(_ entry: ConfigurationSection, key: String = "id") -> String? {
    if let node = entry.values[key], node.isNull {
      entry.reader.report(node, entry.path(key), "must not be empty")
    }
    return entry.text(key, what: "1 to 32 letters, digits, - and _") { text in
      (1...32).contains(text.utf8.count)
        && text.utf8.allSatisfy { byte in
          (48...57).contains(byte) || (97...122).contains(byte) || (65...90).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }
  }

  private static func refuseDuplicates(
    _ ids: [String], _ entries: [YAMLNode], _ list: String, key: String = "id", _ reader: ConfigurationReader
  ) {
    // An entry that was refused as a whole has no id, so the positions would not match.
    guard ids.count == entries.count else { return }
    for (index, id) in ids.enumerated() {
      guard let first = ids[..<index].firstIndex(of: id) else { continue }
      let node = entries[index].mapping?.first { $0.key.scalar?.string == key }?.value ?? entries[index]
      reader.report(node, "\(list)[\(index)].\(key)", "“\(id)” is taken by \(list)[\(first)]; \(key)s must differ")
    }
  }
}
