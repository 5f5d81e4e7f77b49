/// Ends a pairing; the parent's open sessions end after it.
public struct PairRemove: ControlCommand {
  public static let name = "pair.remove"
  public static let requirement: Requirement = .admin
  public static let parameters: [ControlParameter] = [.text("id")]

  /// Nil: the caller's own, which everybody may remove.
  public var id: String?

  public init(id: String? = nil) {
    self.id = id
  }

  public var requirement: Requirement { id == nil ? .session : Self.requirement }
}
