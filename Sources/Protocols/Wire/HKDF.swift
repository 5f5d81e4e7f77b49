/// HKDF with SHA-256. RFC 5869.
public enum HKDF {
  /// Extract and expand. An empty salt is equivalent to 32 zeros, to which HMAC pads it anyway (section 2.2).
  /// - Parameter count: in bytes, at most 8160.
  public static func derive(
    from secret: [UInt8], salt: [UInt8] = [], info: [UInt8], count: Int, hashes: any Hashes
  ) -> [UInt8] {
    let key = hashes.hmacSHA256(key: salt, message: secret)
    var output: [UInt8] = []
    var block: [UInt8] = []
    var number: UInt8 = 1
    while output.count < count {
      block = hashes.hmacSHA256(key: key, message: block + info + [number])
      output += block
      number &+= 1
    }
    return Array(output.prefix(count))
  }
}
