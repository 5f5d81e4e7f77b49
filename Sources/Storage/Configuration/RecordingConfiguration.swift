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
    /// The oldest parts are removed when there would be more. Bytes.
    public var maximumBytes = 4 << 30
    /// A part ends with less than its length when it has so many bytes: there is room for it before it begins, and the oldest
    /// part to be removed for it is no large piece of what there is. A megabyte holds the largest key frame.
    public var maximumPartBytes: Int { max(maximumBytes / 8, 1 << 20) }
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
    result.mode = entry.word("mode") ?? result.mode
    if let keep = entry.seconds("keep", in: 600...366 * 86_400, "10m to 366d, such as 3d") {
      result.keepSeconds = Int64(keep)
    }
    result.partSeconds = entry.seconds("part", in: 10...3600, "10s to 1h, such as 5m") ?? result.partSeconds
    result.maximumBytes = entry.bytes("size") ?? result.maximumBytes
    result.folder = entry.text("folder", what: "a folder, from / on") { $0.isPlainPath && $0.hasPrefix("/") }
    result.events = kinds(entry) ?? []
    let own: Set<EventKind> = [.recordingStarted, .recordingStopped, .recordingPaused]
    if !result.events.isDisjoint(with: own) {
      entry.reader.report(entry.values["events"], entry.path("events"), "a recording cannot start itself")
    }
    return result
  }
}
