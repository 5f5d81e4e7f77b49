/// `recordings.list`
public struct RecordingsDocument: ControlReply {
  public static let member: String? = "recordings"

  public struct Part: Codable, Hashable, Sendable {
    /// A file of the child's, without `.webm`.
    public var id: String
    /// When it begins: seconds since 1970-01-01 UTC.
    public var time: Double
    /// Its length so far.
    public var seconds: Double
    public var bytes: Int

    public init(id: String, time: Double, seconds: Double, bytes: Int) {
      self.id = id
      self.time = time
      self.seconds = seconds
      self.bytes = bytes
    }
  }

  /// `off`, `events` or `always`, as configured.
  public var mode: String
  /// `idle`, `recording` or `paused`.
  public var state: String
  /// Why nothing is recorded although it should be, for people.
  public var reason: String?
  /// Oldest first.
  public var parts: [Part]

  public init(mode: String, state: String, reason: String? = nil, parts: [Part]) {
    self.mode = mode
    self.state = state
    self.reason = reason
    self.parts = parts
  }

  /// Keeps the newest; older ones are found with `to`.
  public var shortened: RecordingsDocument? {
    parts.lastHalf.map { RecordingsDocument(mode: mode, state: state, reason: reason, parts: $0) }
  }
}
