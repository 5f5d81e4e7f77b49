internal import FoundationEssentials
internal import Pairing
internal import Signaling
internal import Storage

/// What the token or the pair record behind a session is worth at this moment.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class ViewerCredentials: @unchecked Sendable {
  enum Standing: Equatable {
    case valid(Permissions)
    case expired
    /// Revoked, or never known.
    case unknown
  }

  /// What follows for a session that is open.
  enum Change: Equatable {
    case permissions(Permissions)
    case end(ByeReason)
  }

  /// A pair record.
  struct Parent {
    var permissions: Permissions
    var isExpired: Bool
    /// The record expires some time.
    var isGuest: Bool
  }

  private let tokens: TokenBook
  private let parent: (_ id: String) -> Parent?

  convenience init(tokens: TokenBook, pairing: PairingService) {
    self.init(tokens: tokens) { id in
      pairing.peer(id: id).map { peer in
        Parent(
          permissions: peer.permissions, isExpired: peer.isExpired,
          isGuest: pairing.record(id: id)?.expiresAt != nil)
      }
    }
  }

  init(tokens: TokenBook, parent: @escaping (_ id: String) -> Parent?) {
    self.tokens = tokens
    self.parent = parent
  }

  func standing(of origin: ViewerSession.Origin, now: Date = Date()) -> Standing {
    switch origin {
    case .whep(_, let name):
      guard let record = tokens.store.tokens.first(where: { $0.name == name }) else { return .unknown }
      if let end = record.expiresAt, end <= now { return .expired }
      return .valid(record.allow)
    case .paired(let session):
      guard let parent = parent(session.parent) else { return .unknown }
      return parent.isExpired ? .expired : .valid(parent.permissions)
    }
  }

  /// What has to change in a session; nil when it is as its credential allows.
  func change(for session: ViewerSession, now: Date = Date()) -> Change? {
    switch standing(of: session.origin, now: now) {
    case .valid(session.permissions): nil
    case .valid(let permissions): .permissions(permissions)
    case .expired: .end(.expired)
    // A parent's revocation ends its sessions itself, once its answer has left.
    case .unknown: session.pair == nil ? .end(.notPaired) : nil
    }
  }

  /// Before whom the session gives way when places are short.
  func rank(of origin: ViewerSession.Origin) -> ViewerAdmission.Rank {
    switch origin {
    case .whep: .token
    case .paired(let session): parent(session.parent)?.isGuest == false ? .parent : .guest
    }
  }
}
