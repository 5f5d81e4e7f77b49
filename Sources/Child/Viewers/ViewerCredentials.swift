internal import Pairing
internal import Server
internal import Signaling
internal import Storage

/// What the token or pair record behind a session currently allows.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class ViewerCredentials: @unchecked Sendable {
  /// What to change in an open session.
  enum Change: Equatable {
    case permissions(Permissions)
    case end(ByeReason)
  }

  private let standing: (Credential) -> Credential.Standing
  /// When a credential was made, by the child's clock then; nil for one that is gone.
  let created: (Credential) -> UnixTime?
  /// The date that decides expiry.
  private let date: () -> UnixTime
  /// Marks expired credentials. Call it each second.
  let endExpired: () -> Void
  /// Notes that the holder of this pair record is here. Call it each second.
  let touch: (_ pair: String) -> Void

  convenience init(tokens: TokenBook, pairing: PairingService) {
    self.init(date: { pairing.now }) { credential in
      switch credential {
      case .token(let id): tokens.standing(ofToken: id)
      case .pair(let id): pairing.standing(ofPair: id)
      }
    } created: { credential in
      switch credential {
      case .token(let id): tokens.records.first { $0.id == id }.map { UnixTime(date: $0.createdAt) }
      case .pair(let id): pairing.record(id: id)?.createdAt
      }
    } endExpired: {
      tokens.endExpired()
      pairing.endExpired()
    } touch: { pair in
      pairing.touch(id: pair)
    }
  }

  init(
    date: @escaping () -> UnixTime, standing: @escaping (Credential) -> Credential.Standing,
    created: @escaping (Credential) -> UnixTime? = { _ in nil },
    endExpired: @escaping () -> Void = {}, touch: @escaping (_ pair: String) -> Void = { _ in }
  ) {
    self.date = date
    self.standing = standing
    self.created = created
    self.endExpired = endExpired
    self.touch = touch
  }

  func standing(of origin: ViewerSession.Origin) -> Credential.Standing { standing(origin.credential) }

  /// How long a credential will still count; nil: until it is revoked.
  func timeLeft(of credential: Credential) -> Duration? {
    switch standing(credential) {
    case .good(_, expiresAt: nil): nil
    case .good(_, let end?): .seconds(max(0, end.seconds - date().seconds))
    case .expired, .unknown: .zero
    }
  }

  /// What has to change in a session; nil if it matches its credential.
  func change(for session: ViewerSession) -> Change? {
    switch standing(of: session.origin) {
    case .good(session.permissions, _): nil
    case .good(let permissions, _): .permissions(permissions)
    case .expired: .end(.expired)
    // `PairingService.revoke` ends a parent's sessions itself, once the reply has been sent.
    case .unknown: session.pair == nil ? .end(.notPaired) : nil
    }
  }

  /// How connections with the credential are counted; nil once it has expired or is gone.
  func connection(of credential: Credential) -> ConnectionCredential? {
    guard case .good(let permissions, let end) = standing(credential) else { return nil }
    let isParent = if case .pair = credential { end == nil } else { false }
    return ConnectionCredential(
      id: credential.text, isParent: isParent,
      maximumConnections: permissions.contains(.admin)
        ? ViewerAdmission.maximumAdministratorSessions : ViewerAdmission.maximumSessions)
  }

  /// Eviction priority of the session.
  func rank(of origin: ViewerSession.Origin) -> ViewerAdmission.Rank {
    guard case .paired = origin else { return .token }
    if case .good(_, expiresAt: nil) = standing(of: origin) { return .parent }
    return .guest
  }
}
