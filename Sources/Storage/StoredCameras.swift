/// What viewers have set of the cameras: `cameras.json` in the state directory. interfaces/files.md, "Files".
public struct StoredCameras: Codable, Sendable {
  /// What viewers call them, by the camera's id.
  public var titles: [String: String] = [:]
  /// All are paused; left out: they are not.
  public var isPaused: Bool?
  /// When that changed last; seconds since 1970.
  public var changedAt: Double?

  public init() {}
}
