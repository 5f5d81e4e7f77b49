internal import Wire

/// The content coding `aes128gcm`. RFC 8188.
public enum EncryptedContent {
  public static let name = "aes128gcm"
  /// Random, new for each message.
  public static let saltBytes = 16
  /// Of the authentication tag, in each record.
  public static let tagBytes = 16

  /// One record: content and how much padding follows its delimiter. RFC 8188 section 2.
  public struct Record: Hashable, Sendable {
    public var content: [UInt8]
    /// Zeros, in bytes.
    public var padding: Int

    public init(_ content: [UInt8], padding: Int = 0) {
      self.content = content
      self.padding = padding
    }
  }

  /// Encrypts records.
  ///
  /// - Parameters:
  ///   - records: all but the last one fill `recordSize`; the last one is not longer.
  ///   - secret: input keying material.
  ///   - salt: `saltBytes` bytes, never used twice with this secret.
  ///   - keyID: tells the receiver which secret this is; at most 255 bytes.
  ///   - recordSize: of an encrypted record, in bytes; at least 18.
  /// - Returns: header and ciphertext; nil where a parameter is not as described.
  public static func encrypt(
    _ records: [Record], secret: [UInt8], salt: [UInt8], keyID: [UInt8], recordSize: UInt32,
    crypto: some WebPushCrypto
  ) -> [UInt8]? {
    guard salt.count == saltBytes, recordSize >= 18, let length = UInt8(exactly: keyID.count), !records.isEmpty else {
      return nil
    }
    let key = HKDF.derive(
      from: secret, salt: salt, info: label("Content-Encoding: aes128gcm"), count: 16, hashes: crypto.hashes)
    let firstNonce = HKDF.derive(
      from: secret, salt: salt, info: label("Content-Encoding: nonce"), count: 12, hashes: crypto.hashes)
    var writer = ByteWriter()
    writer.write(contentsOf: salt)
    writer.write(recordSize)
    writer.write(length)
    writer.write(contentsOf: keyID)
    for (number, record) in records.enumerated() {
      let isLast = number == records.count - 1
      guard record.padding >= 0, record.content.count <= Int(recordSize), record.padding <= Int(recordSize) else {
        return nil
      }
      // The delimiter of the last record is 2, of the others 1.
      let plaintext = record.content + [isLast ? 2 : 1] + [UInt8](repeating: 0, count: record.padding)
      let size = plaintext.count + tagBytes
      guard isLast ? size <= Int(recordSize) : size == Int(recordSize) else { return nil }
      writer.write(contentsOf: crypto.seal(plaintext, key: key, nonce: nonce(firstNonce, of: UInt64(number))))
    }
    return writer.bytes
  }

  static func label(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

  /// The record's number, as 96 bits, is added without carry. RFC 8188 section 2.3.
  private static func nonce(_ first: [UInt8], of number: UInt64) -> [UInt8] {
    var nonce = first
    for index in 0..<min(8, nonce.count) {
      nonce[nonce.count - 1 - index] ^= UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
    }
    return nonce
  }
}
