public import Control
public import FoundationEssentials

/// `cradle-child recordings`
public struct RecordingsShow: DaemonCommand {
  public typealias Reply = RecordingList

  public static let name = "recordings"

  public init() {}
}

/// `recordings --json`.
public struct RecordingList: ControlReply {
  /// `off`, `events` or `always`, as configured.
  public var mode: String
  /// `idle`, `recording` or `paused`.
  public var state: String
  /// Why nothing is recorded.
  public var reason: String?
  /// Where the parts are; nil when there is none.
  public var folder: String?
  /// Oldest first.
  public var recordings: [Row]

  public struct Row: Codable, Hashable, Sendable {
    /// The file's name without `.webm`.
    public var id: String
    /// When it begins.
    public var time: Date
    public var bytes: Int
  }
}
