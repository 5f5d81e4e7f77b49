/// Who speaks into the room: one at a time.
public struct TalkFloor: Sendable {
  public struct Talker: Hashable, Sendable {
    /// Of the session, as in `ViewerDocument.id`.
    public var viewer: String
    public var name: String

    public init(viewer: String, name: String) {
      self.viewer = viewer
      self.name = name
    }
  }

  public private(set) var holder: Talker?

  public init() {}

  /// `talk.acquire`. Who has the floor already keeps it. `force` takes it from another; that it may, its permission has
  /// said.
  ///
  /// Throws `busy` while another holds it.
  public mutating func acquire(_ talker: Talker, force: Bool) throws(ControlError) {
    if let holder, holder.viewer != talker.viewer, !force {
      throw ControlError(.busy, "\(holder.name) is speaking.")
    }
    holder = talker
  }

  /// `talk.release`, and what follows when a viewer is gone or may no longer speak. Of another than the holder it
  /// changes nothing.
  public mutating func release(viewer: String) {
    if holder?.viewer == viewer { holder = nil }
  }

  public var document: TalkDocument { TalkDocument(holder: holder?.name, viewer: holder?.viewer) }
}
