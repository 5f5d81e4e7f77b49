internal import Pairing

/// What a session was authenticated with.
enum Credential: Hashable, Sendable {
  /// A pair record, by its id.
  case pair(id: String)
  /// A bearer token, by `TokenRecord.id`.
  case token(id: String)

  /// What the credential currently allows.
  enum Standing: Hashable, Sendable {
    /// - `expiresAt`: on `ExpiryClock`; nil for never.
    case good(Permissions, expiresAt: UnixTime?)
    /// It has expired.
    case expired
    /// It was revoked or unpaired, or never existed.
    case unknown

    /// What its sessions may do now.
    var permissions: Permissions {
      if case .good(let permissions, _) = self { permissions } else { [] }
    }
  }
}
