/// What viewers call the cameras: `cameras.json` in the state directory. interfaces/files.md, "Files".
public struct CameraNameStore: Sendable {
  public let file: AtomicFile
  private let store: JSONStore

  private struct Content: Codable {
    /// By the camera's id.
    var titles: [String: String]
  }

  /// - Parameter file: in the state directory. It is not accessed yet.
  public init(file: AtomicFile) {
    self.file = file
    store = JSONStore(file: file)
  }

  /// None before the first. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public func load() throws(StoreError) -> [String: String] {
    try store.load(Content.self)?.titles ?? [:]
  }

  /// Throws `StoreError.file`; what is stored is kept then.
  public func save(_ titles: [String: String]) throws(StoreError) {
    try store.save(Content(titles: titles))
  }
}
