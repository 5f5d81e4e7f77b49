public import Notifications
internal import Signaling
internal import Wire

/// A browser's subscription.
public struct PushSubscription: Hashable, Sendable {
  public let endpoint: PushEndpoint
  public let keys: SubscriptionKeys

  public init(endpoint: PushEndpoint, keys: SubscriptionKeys) {
    self.endpoint = endpoint
    self.keys = keys
  }
}

/// Randomness for one message.
public struct PushRandom: Sendable {
  /// `EphemeralKey.seedBytes` bytes.
  public var seed: [UInt8]
  /// `EncryptedContent.saltBytes` bytes.
  public var salt: [UInt8]

  public init(using generator: inout some RandomNumberGenerator) {
    seed = (0..<EphemeralKey.seedBytes).map { _ in .random(in: 0...255, using: &generator) }
    salt = (0..<EncryptedContent.saltBytes).map { _ in .random(in: 0...255, using: &generator) }
  }
}

/// The request that asks a push service to deliver one message: a POST to the subscription's endpoint. RFC 8030 section 5.
public struct PushRequest: Sendable {
  public let headers: [(name: String, value: String)]
  public let body: [UInt8]

  /// How long a push service keeps a message for a browser that is not online, in seconds: an alarm of yesterday would only
  /// ring for nothing. RFC 8030 section 5.2.
  public static let timeToLive = 3600

  /// - Parameters:
  ///   - child: the child's name.
  ///   - unixTime: seconds since 1970-01-01 UTC.
  ///   - contact: see `VAPID.authorization`.
  /// - Returns: nil if the subscription's key is of no use.
  public init?(
    _ notification: Notification, child: String, to subscription: PushSubscription, contact: String, unixTime: Int64,
    random: PushRandom, signer: some VAPIDSigner, crypto: some WebPushCrypto
  ) {
    let message = PushMessage(notification, child: child)
    guard let key = crypto.ephemeralKey(seed: random.seed),
      let body = MessageEncryption.encrypt(
        message.content, padding: message.padding, for: subscription.keys, with: key, salt: random.salt, crypto: crypto)
    else { return nil }
    self.body = body
    headers = [
      ("Content-Type", "application/octet-stream"),
      ("Content-Encoding", EncryptedContent.name),
      ("TTL", "\(Self.timeToLive)"),
      ("Urgency", "high"),
      ("Topic", Self.topic(of: notification, secret: subscription.keys.secret, crypto: crypto)),
      (
        "Authorization",
        VAPID.authorization(
          for: subscription.endpoint.url.origin, contact: contact, unixTime: unixTime, signer: signer)
      ),
    ]
  }

  /// A newer message of the same kind about the same device takes the place of one that was not delivered (RFC 8030
  /// section 5.4: 32 characters). The push service learns neither: it lacks the secret.
  static func topic(of notification: Notification, secret: [UInt8], crypto: some WebPushCrypto) -> String {
    let subject = "\(notification.kind)\n\(notification.id ?? "")"
    return Base64URL.encode(Array(crypto.hashes.hmacSHA256(key: secret, message: Array(subject.utf8)).prefix(24)))
  }
}
