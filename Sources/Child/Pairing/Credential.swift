internal import Pairing

/// What a session was authenticated with.
enum Credential: Hashable, Sendable {
  /// A pair record, by its id.
  case pair(id: String)
  /// A bearer token, by `TokenRecord.id`.
  case token(id: String)

  /// As a text.
  var text: String {
    switch self {
    case .pair(let id): "pair:" + id
    case .token(let id): "token:" + id
    }
  }

  /// Nil if it is not the text of a credential.
  init?(text: String) {
    let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
    switch (parts.first, parts.last) {
    case ("pair", let id?) where parts.count == 2: self = .pair(id: id)
    case ("token", let id?) where parts.count == 2: self = .token(id: id)
    default: return nil
    }
  }

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
