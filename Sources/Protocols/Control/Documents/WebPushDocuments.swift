/// `push.key`
public struct PushKeyDocument: ControlReply {
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
public struct PushTestDocument: ControlReply {
  /// The push service has taken the message.
  public var delivered: Bool
  /// For people: "the server answered 201".
  public var detail: String

  public init(delivered: Bool, detail: String) {
    self.delivered = delivered
    self.detail = detail
  }
}
