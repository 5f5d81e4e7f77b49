internal import Wire

/// Encryption of a push message for one subscription: only that browser can read it. RFC 8291.
public enum MessageEncryption {
  /// Push services take bodies of at least this size, and some of no larger one. RFC 8030 section 7.2.
  public static let maximumBodyBytes = 4096
  /// Of salt, record size, length and public key. RFC 8188 section 2.1.
  static let headerBytes = 16 + 4 + 1 + 65
  /// Of the content: what remains beside header, tag and delimiter. RFC 8291 section 4.
  public static let maximumContentBytes = maximumBodyBytes - headerBytes - EncryptedContent.tagBytes - 1

  /// Encrypts one message.
  ///
  /// - Parameters:
  ///   - content: at most `maximumContentBytes`.
  ///   - padding: zeros behind it, as far as there is room.
  ///   - key: used for this message only.
  ///   - salt: `EncryptedContent.saltBytes` random bytes.
  /// - Returns: the body; nil if the content is too long or the subscription's key is not on the curve.
  public static func encrypt(
    _ content: [UInt8], padding: Int = 0, for keys: SubscriptionKeys, with key: EphemeralKey, salt: [UInt8],
    crypto: some WebPushCrypto
  ) -> [UInt8]? {
    guard content.count <= maximumContentBytes, let shared = crypto.sharedSecret(key, with: keys.publicKey) else {
      return nil
    }
    let info = EncryptedContent.label("WebPush: info") + keys.publicKey + key.publicKey
    let secret = HKDF.derive(from: shared, salt: keys.secret, info: info, count: 32, hashes: crypto.hashes)
    let padding = min(max(0, padding), maximumContentBytes - content.count)
    return EncryptedContent.encrypt(
      [.init(content, padding: padding)], secret: secret, salt: salt, keyID: key.publicKey,
      recordSize: UInt32(maximumBodyBytes), crypto: crypto)
  }
}

/// What a browser gives with its subscription. W3C Push API, "PushEncryptionKeyName".
public struct SubscriptionKeys: Hashable, Sendable {
  /// `p256dh`: an uncompressed point on P-256.
  public let publicKey: [UInt8]
  /// `auth`: shared by browser and child alone.
  public let secret: [UInt8]

  public static let publicKeyBytes = 65
  public static let secretBytes = 16

  /// Nil unless the key is a point on the curve and the secret has its length.
  public init?(publicKey: [UInt8], secret: [UInt8], crypto: some WebPushCrypto) {
    guard publicKey.count == Self.publicKeyBytes, secret.count == Self.secretBytes, crypto.isPublicKey(publicKey) else {
      return nil
    }
    self.publicKey = publicKey
    self.secret = secret
  }
}
