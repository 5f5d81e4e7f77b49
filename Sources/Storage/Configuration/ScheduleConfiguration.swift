internal import Control

extension ChildConfiguration {
  private enum Power: String, CaseIterable { case on, off }

  /// An entry of `schedule`; nil when something of it was refused.
  static func scheduled(_ node: YAMLNode, at index: Int, _ reader: ConfigurationReader) -> Schedule.Entry? {
    let keys = ["at", "days", "camera", "light", "brightness", "lullaby", "volume", "for"]
    guard let entry = reader.section(node, path: "schedule[\(index)]", keys: keys) else { return nil }
    let time = entry.text("at", what: "a time of day, such as \"19:30\"") { TimeOfDay.minutes($0) != nil }
    if entry.values["at"].map(\.isNull) ?? true {
      reader.report(node, entry.path("at"), "is missing: a time of day, such as \"19:30\"")
    }
    let days = weekdays(entry)
    let action = action(entry, node)
    guard let minutes = time.flatMap(TimeOfDay.minutes), let days, let action else { return nil }
    return Schedule.Entry(minutes: minutes, days: days, action: action)
  }

  private static func weekdays(_ entry: ConfigurationSection) -> Set<Int>? {
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    guard let nodes = entry.list("days", maximum: 7) else { return entry.values["days"] == nil ? Set(0...6) : nil }
    let days = nodes.map { node in node.scalar.flatMap { names.firstIndex(of: $0.string) } }
    guard !days.isEmpty, !days.contains(nil) else {
      entry.reader.report(entry.values["days"], entry.path("days"), "must be of \(names.joined(separator: ", "))")
      return nil
    }
    return Set(days.compactMap(\.self))
  }

  private static func action(_ entry: ConfigurationSection, _ node: YAMLNode) -> Schedule.Action? {
    let what = ["camera", "light", "lullaby"].filter { entry.values[$0].map { !$0.isNull } ?? false }
    guard what.count == 1 else {
      entry.reader.report(node, entry.path, "must have one of camera, light and lullaby")
      return nil
    }
    let fitting = ["camera": [], "light": ["brightness", "for"], "lullaby": ["volume", "for"]][what[0]] ?? []
    for key in ["brightness", "volume", "for"] where entry.values[key] != nil && !fitting.contains(key) {
      entry.reader.report(entry.values[key], entry.path(key), "does not go with \(what[0])")
      return nil
    }
    let seconds = entry.seconds("for", in: 1...86_400, "a time from 1s to 24h, such as 30m")
    if entry.values["for"] != nil, seconds == nil { return nil }
    func percent(_ key: String) -> Int? {
      entry.values[key].map { _ in entry.integer(key, default: 0, in: 1...100) }
    }
    switch what[0] {
    case "camera": return (entry.word("camera") as Power?).map { .camera(isOn: $0 == .on) }
    case "light":
      guard let power: Power = entry.word("light") else { return nil }
      let (brightness, state): (Int?, LightSet.Switch) = (percent("brightness"), power == .on ? .on : .off)
      if power == .off, brightness != nil || seconds != nil {
        entry.reader.report(entry.values["light"], entry.path("light"), "takes neither brightness nor for with off")
        return nil
      }
      return .light(LightSet(state: state, brightness: brightness, seconds: seconds))
    default:
      guard let track = entry.text("lullaby", what: "a track, or off", isAllowed: { (1...128).contains($0.utf8.count) })
      else { return nil }
      let volume = percent("volume")
      guard track == "off" else {
        return .lullaby(LullabyPlay(track: track, volume: volume, seconds: seconds, loop: true))
      }
      if volume != nil || seconds != nil {
        entry.reader.report(entry.values["lullaby"], entry.path("lullaby"), "takes neither volume nor for with off")
        return nil
      }
      return .lullabyStop
    }
  }
}
