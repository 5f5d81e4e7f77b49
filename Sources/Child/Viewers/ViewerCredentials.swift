internal import Pairing
internal import Signaling

/// What the token or the pair record behind a session is worth at this moment.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class ViewerCredentials: @unchecked Sendable {
  /// What follows for a session that is open.
  enum Change: Equatable {
    case permissions(Permissions)
    case end(ByeReason)
  }

  private let standing: (Credential) -> Credential.Standing
  /// Marks what has expired. Call it each second.
  let endExpired: () -> Void

  convenience init(tokens: TokenBook, pairing: PairingService) {
    self.init { credential in
      switch credential {
      case .token(let id): tokens.standing(ofToken: id)
      case .pair(let id): pairing.standing(ofPair: id)
      }
    } endExpired: {
      tokens.endExpired()
      pairing.endExpired()
    }
  }

  init(
    standing: @escaping (Credential) -> Credential.Standing, endExpired: @escaping () -> Void = {}
  ) {
    self.standing = standing
    self.endExpired = endExpired
  }

  func standing(of origin: ViewerSession.Origin) -> Credential.Standing { standing(origin.credential) }

  /// What has to change in a session; nil when it is as its credential allows.
  func change(for session: ViewerSession) -> Change? {
    switch standing(of: session.origin) {
    case .good(session.permissions, _): nil
    case .good(let permissions, _): .permissions(permissions)
    case .expired: .end(.expired)
    // A parent's revocation ends its sessions itself, once its answer has left.
    case .unknown: session.pair == nil ? .end(.notPaired) : nil
    }
  }

  /// Before whom the session gives way when places are short.
  func rank(of origin: ViewerSession.Origin) -> ViewerAdmission.Rank {
    guard case .paired = origin else { return .token }
    if case .good(_, expiresAt: nil) = standing(of: origin) { return .parent }
    return .guest
  }
}
