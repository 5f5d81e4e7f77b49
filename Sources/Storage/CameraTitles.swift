/// What viewers call the cameras: `cameras.json` in the state directory. interfaces/files.md, "Files".
public struct CameraTitles: Codable, Sendable {
  /// By the camera's id.
  public var titles: [String: String] = [:]

  public init() {}
}
