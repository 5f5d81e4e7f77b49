/// Who may speak into the room: one viewer at a time.
public struct TalkFloor: Sendable {
  public struct Talker: Hashable, Sendable {
    /// Id of the session, as in `ViewerDocument.id`.
    public var viewer: String
    public var name: String

    public init(viewer: String, name: String) {
      self.viewer = viewer
      self.name = name
    }
  }

  public private(set) var holder: Talker?

  public init() {}

  /// `talk.acquire`. A viewer that has the floor keeps it. `force` takes it from another viewer; the caller has checked
  /// the permission for that.
  ///
  /// Throws `busy` while another viewer holds it.
  public mutating func acquire(_ talker: Talker, force: Bool) throws(ControlError) {
    if let holder, holder.viewer != talker.viewer, !force {
      throw ControlError(.busy, "\(holder.name) is speaking.")
    }
    holder = talker
  }

  /// `talk.release`; also called when a viewer leaves or may no longer talk. Does nothing unless the viewer has the
  /// floor.
  public mutating func release(viewer: String) {
    if holder?.viewer == viewer { holder = nil }
  }

  public var document: TalkDocument { TalkDocument(holder: holder?.name, viewer: holder?.viewer) }
}
