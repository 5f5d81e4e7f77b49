/// Who may speak into the room: one viewer at a time. A guest, or a player with a token, gives way to a paired parent.
public struct TalkFloor: Sendable {
  public struct Talker: Hashable, Sendable {
    /// Id of the session, as in `ViewerDocument.id`.
    public var viewer: String
    public var name: String
    /// Its access was lent.
    public var isGuest: Bool

    public init(viewer: String, name: String, isGuest: Bool) {
      self.viewer = viewer
      self.name = name
      self.isGuest = isGuest
    }
  }

  public private(set) var holder: Talker?

  public init() {}

  /// Whether the viewer has the floor, or gets it by asking.
  public func isFree(for talker: Talker) -> Bool {
    guard let holder, holder.viewer != talker.viewer else { return true }
    return holder.isGuest && !talker.isGuest
  }

  /// `talk.acquire`. A viewer that has the floor keeps it, but for a guest where a parent wants it. `force` takes it
  /// from another viewer; the caller has checked the permission for that. A guest never takes it from a parent.
  ///
  /// Throws `busy` while another viewer holds it.
  public mutating func acquire(_ talker: Talker, force: Bool) throws(ControlError) {
    if let holder, !isFree(for: talker), !force || talker.isGuest {
      throw ControlError(.busy, "\(holder.name) is speaking.")
    }
    holder = talker
  }

  /// `talk.release`; also called when a viewer leaves or may no longer talk. Does nothing unless the viewer has the
  /// floor.
  public mutating func release(viewer: String) {
    if holder?.viewer == viewer { holder = nil }
  }

  public var document: TalkDocument {
    TalkDocument(holder: holder?.name, viewer: holder?.viewer, isGuest: holder?.isGuest == true ? true : nil)
  }
}
