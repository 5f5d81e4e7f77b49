public import Control
internal import DeviceNames

extension ChildConfiguration {
  /// `record`: what the child itself records.
  public struct Recording: Sendable, Hashable {
    public enum Mode: String, CaseIterable, Sendable {
      case off
      /// By hand and by `events`.
      case events
      case always
    }

    public var mode = Mode.off
    /// Older parts are removed. Seconds.
    public var keepSeconds: Int64 = 3 * 86_400
    /// The oldest parts are removed when there is more. Bytes.
    public var maximumBytes = 4 << 30
    /// Length of a part, in seconds: a few to look through, and little to lose.
    public var partSeconds = 300
    /// Nil: `recordings` in the state directory. It must exist: a disk that is missing must not fill the system's.
    public var folder: String?
    /// What starts a recording when the mode is `events`.
    public var events: Set<EventKind> = []
  }

  static func recording(_ top: ConfigurationSection) -> Recording {
    var result = Recording()
    let keys = ["mode", "keep", "size", "part", "folder", "events"]
    guard let entry = top.section("record", keys: keys) else { return result }
    let modes = Recording.Mode.allCases.map(\.rawValue)
    result.mode =
      entry.text("mode", what: "one of " + modes.joined(separator: ", "), isAllowed: modes.contains)
      .flatMap(Recording.Mode.init) ?? result.mode
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    if let keep = number(entry, "keep", units, in: 600...366 * 86_400, "10m to 366d, such as 3d") {
      result.keepSeconds = Int64(keep)
    }
    result.partSeconds = number(entry, "part", units, in: 10...3600, "10s to 1h, such as 5m") ?? result.partSeconds
    let sizes: [Character: Int] = ["M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
    result.maximumBytes =
      number(entry, "size", sizes, in: 1 << 20...1 << 50, "1M to 1024T, such as 4G") ?? result.maximumBytes
    result.folder = entry.text("folder", what: "a folder, from / on") { $0.isPlainPath && $0.hasPrefix("/") }
    result.events = kinds(entry) ?? []
    let own: Set<EventKind> = [.recordingStarted, .recordingStopped, .recordingPaused]
    if !result.events.isDisjoint(with: own) {
      entry.reader.report(entry.values["events"], entry.path("events"), "a recording cannot start itself")
    }
    return result
  }

  /// Digits and one unit.
  private static func number(
    _ entry: ConfigurationSection, _ key: String, _ units: [Character: Int], in range: ClosedRange<Int>, _ what: String
  ) -> Int? {
    func value(_ text: String) -> Int? {
      guard let unit = text.last.flatMap({ units[$0] }), text.utf8.count <= 10, let number = Int(text.dropLast()),
        number >= 0, text.first != "+"
      else { return nil }
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: unit)
      return !isTooLarge && range.contains(product) ? product : nil
    }
    return entry.text(key, what: what) { value($0) != nil }.flatMap(value)
  }
}
