/// Where a window stood, in the desktop's coordinates.
public struct WindowPlace: Codable, Hashable, Sendable {
  public var x: Int
  public var y: Int
  public var width: Int
  public var height: Int

  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}

/// How a child's window was left.
public struct WindowMemory: Codable, Hashable, Sendable {
  /// Of the ordinary window.
  public var place: WindowPlace?
  /// Of the small one that stays on top.
  public var small: WindowPlace?
  public var isFullScreen = false
  public var isSmall = false

  public init() {}
}

/// `window-NAME.json` in the parent's state directory: a file for each child, because each is watched by a program of its
/// own.
public struct WindowMemoryStore: Sendable {
  private let store: JSONStore<Content>

  private struct Content: Codable {
    var window: WindowMemory
  }

  /// - Parameter name: a child's id, or another name that is fit for a file.
  public init(directory: String, name: String) {
    store = JSONStore(file: AtomicFile(path: "\(directory)/window-\(name).json"))
  }

  /// What was saved last; nil at the first time.
  public func load() throws(StoreError) -> WindowMemory? {
    try store.load()?.window
  }

  public func save(_ memory: WindowMemory) throws(StoreError) {
    try store.save(Content(window: memory))
  }
}
