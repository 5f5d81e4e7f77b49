/// `push.subscribe`: where and for whom a browser wants alarms to be pushed. What it means is for the shell to check.
public struct PushSubscribeRequest: Hashable, Sendable {
  /// The push service's address for this browser.
  public var endpoint: String
  /// The browser's public key, base64url.
  public var p256dh: String
  /// The secret that browser and child share, base64url.
  public var auth: String
  /// Nil: the usual ones.
  public var kinds: Set<EventKind>?
  /// Where the push service finds somebody, `mailto:` or `https:`; needed where the child has none.
  public var contact: String?

  public init(
    endpoint: String, p256dh: String, auth: String, kinds: Set<EventKind>? = nil, contact: String? = nil
  ) {
    self.contact = contact
    self.endpoint = endpoint
    self.p256dh = p256dh
    self.auth = auth
    self.kinds = kinds
  }
}

/// `push.key`
public struct PushKeyDocument: Codable, Hashable, Sendable {
  /// The child's key for push services, which a browser subscribes to: an uncompressed point on P-256, base64url.
  public var publicKey: String
  /// The endpoint of the caller's subscription; left out: it has none.
  public var endpoint: String?
  /// True: `push.subscribe` needs a `contact`, as the child has none; else left out.
  public var needsContact: Bool?
  /// Why the last message for this subscription was not taken, for people; left out if it was.
  public var problem: String?

  public init(
    publicKey: String, endpoint: String? = nil, needsContact: Bool? = nil, problem: String? = nil
  ) {
    self.needsContact = needsContact
    self.problem = problem
    self.publicKey = publicKey
    self.endpoint = endpoint
  }
}

/// `push.test`
public struct PushTestDocument: Codable, Hashable, Sendable {
  /// The push service has taken the message.
  public var delivered: Bool
  /// For people: "the server answered 201".
  public var detail: String

  public init(delivered: Bool, detail: String) {
    self.delivered = delivered
    self.detail = detail
  }
}
