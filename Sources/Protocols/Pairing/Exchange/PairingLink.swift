internal import Wire

/// 128 random bits for one pairing. They appear only in the link; the protocol proves knowledge of them and never sends
/// them.
public struct PairingSecret: Hashable, Sendable, LosslessStringConvertible {
  static let byteCount = 16

  let bytes: [UInt8]

  static func random(using random: inout any RandomNumberGenerator & Sendable) -> PairingSecret {
    PairingSecret(bytes: randomBytes(byteCount, using: &random))
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Parses 22 characters of base64url.
  public init?(_ text: String) {
    guard text.utf8.count == 22, let bytes = Base64URL.decode(text) else { return nil }
    self.bytes = bytes
  }

  public var description: String { Base64URL.encode(bytes) }
}

/// `https://HOST/#pair=SECRET`. Browsers do not send the part after `#`.
public struct PairingLink: Hashable, Sendable, LosslessStringConvertible {
  /// `https://192.0.2.7:8443`, without a trailing slash.
  public let origin: String
  public let secret: PairingSecret

  public init(origin: String, secret: PairingSecret) {
    self.origin = origin
    self.secret = secret
  }

  public init?(_ text: String) {
    let parts = text.split(separator: "#pair=", maxSplits: 1, omittingEmptySubsequences: false)
    guard text.utf8.count <= 512, parts.count == 2, parts[0].hasPrefix("https://"),
      let secret = PairingSecret(String(parts[1]))
    else { return nil }
    let authority = parts[0].dropFirst("https://".count)
    let host = authority.last == "/" ? authority.dropLast() : authority
    guard !host.isEmpty, host.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !"/?#@\\\"<>".utf8.contains($0) }) else {
      return nil
    }
    self.init(origin: "https://\(host)", secret: secret)
  }

  public var description: String { "\(origin)/#pair=\(secret)" }
}
