internal import DeviceNames
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

  static let keys: [ConfigurationKey<ChildConfiguration>] = [
    .init("name") { section, result in
      result.name = section.text("name", what: "1 to 63 bytes of printable text") { name in
        (1...63).contains(name.utf8.count) && name.unicodeScalars.allSatisfy(\.isPrintable)
          && name.first != " " && name.last != " "
      }
    },
    .value("listen", \.listen),
    .section("rtsp", \.rtsp, [.boolean("enabled", \.isEnabled), .value("listen", \.listen)]),
    .init("tls", below: ["certificate", "key"]) { $1.tls = tls($0) },
    .init("proxies") { $1.proxies = $0.addresses("proxies") },
    .init("media-ports") { $1.mediaPorts = mediaPorts($0) },
    .boolean("mark-media", \.marksMedia),
    .list("cameras", \.cameras, maximum: 8, Camera.keys, id: \.id, fallback: camera),
    .section("microphone", \.microphone, Microphone.keys),
    .section("speaker", \.speaker, Speaker.keys),
    .list("lights", \.lights, maximum: 16, Light.keys, id: \.id, fallback: light),
    .init("lullabies") { section, result in
      result.lullabies = section.text("lullabies", what: "a directory", isAllowed: \.isPlainPath) ?? result.lullabies
    },
    .section(
      "video", \.video,
      [
        .init("bitrate-kbps") { section, result in
          result.bitrateKbps = section.integerPair("bitrate-kbps", default: result.bitrateKbps, in: 30...50000)
        }
      ]),
    .init("unheard") { section, result in
      let seconds = section.seconds("unheard", in: 30...86_400, "null or a time from 30s to 24h, such as 5m")
      result.unheard = seconds.map { .seconds($0) }
    },
    .init("hearing-test") { section, result in
      let what = "null or a time of day, such as \"19:30\""
      result.hearingTest = section.text("hearing-test", what: what) { TimeOfDay.minutes($0) != nil }
        .flatMap(TimeOfDay.minutes)
    },
    .init("schedule") { section, result in
      guard let entries = section.list("schedule", maximum: 32) else { return }
      result.schedule = entries.indices.compactMap { scheduled(entries[$0], at: $0, section.reader) }
    },
    .init("ice-servers") { section, result in
      guard let entries = section.list("ice-servers", maximum: 8) else { return }
      result.iceServers = entries.indices.compactMap { iceServer(entries[$0], at: $0, section.reader) }
    },
    .init("away") { $1.away = away($0) },
    .init("notify") { section, result in
      guard let entries = section.list("notify", maximum: 8) else { return }
      result.notifiers = entries.indices.compactMap { notifier(entries[$0], at: $0, section.reader) }
      refuseDuplicates(result.notifiers.map(\.name), entries, "notify", key: "name", section.reader)
    },
    .init("push") { $1.push = push($0) },
    .init("record") { $1.recording = recording($0) },
  ]

  private static func read(_ root: YAMLNode, _ reader: ConfigurationReader) -> ChildConfiguration {
    var result = ChildConfiguration.defaults
    if reader.read(root, path: "", keys, into: &result) { refuseSharedLamps(result, root, reader) }
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

  /// A line or an LED serves one purpose: a second one would find it in use, or both would switch it.
  private static func refuseSharedLamps(
    _ configuration: ChildConfiguration, _ root: YAMLNode, _ reader: ConfigurationReader
  ) {
    var taken: [LightDevice: String] = [:]
    for (index, light) in configuration.lights.enumerated() { taken[light.device] = "lights[\(index)]" }
    for (index, camera) in configuration.cameras.enumerated() {
      if camera.infrared == .off || camera.infrared == .simulated { continue }
      if let other = taken.updateValue("cameras[\(index)].infrared", forKey: camera.infrared) {
        let cameras = root.mapping?.first { $0.key.scalar?.string == "cameras" }?.value
        reader.report(
          cameras, "cameras[\(index)].infrared", "“\(camera.infrared)” is taken by \(other)")
      }
    }
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

  static func refuseDuplicates(
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
