public import Wire

/// Digest access authentication as RTSP players speak it: RFC 7616, with MD5 and SHA-256, and RFC 2069 without `qop`.
///
/// The secret itself is not needed to verify a response: the hash over user, realm and secret (HA1) is.
public struct DigestAccess: Sendable {
  public static let realm = "cradle"

  /// HA1 with each hash, in hexadecimal. Who has one can sign in its place.
  public struct Secrets: Hashable, Sendable, Codable {
    public var md5: String
    public var sha256: String

    public init(user: String, secret: String, hashes: any Hashes) {
      let text = Array("\(user):\(DigestAccess.realm):\(secret)".utf8)
      md5 = hashes.md5(text).hexadecimal()
      sha256 = hashes.sha256(text).hexadecimal()
    }
  }

  enum Verdict { case right, stale, wrong }

  /// Of this connection alone, so that no response counts in another.
  public let nonce: String

  /// - Parameter random: 16 bytes at least.
  public init(random: [UInt8]) {
    nonce = random.hexadecimal()
  }

  /// Header lines that ask for it. The last is the one that every player knows: some look at the last alone, some at the first
  /// and take it for MD5 whatever it names.
  ///
  /// - Parameter isStale: the player knows the secret and is to try once more with this nonce (RFC 7616 section 3.3).
  func challenges(isStale: Bool) -> [String] {
    ["SHA-256", "MD5"].map {
      #"WWW-Authenticate: Digest realm="\#(Self.realm)", nonce="\#(nonce)", algorithm=\#($0)"#
        + (isStale ? ", stale=true" : "")
    }
  }

  /// What an `Authorization` header says; nil if it is no Digest.
  static func parameters(_ header: String) -> [String: String]? {
    guard header.lowercased().hasPrefix("digest ") else { return nil }
    var parameters: [String: String] = [:]
    var rest = header.dropFirst(7)
    while let equals = rest.firstIndex(of: "="), parameters.count < 32 {
      let name = rest[..<equals].drop { $0 == "," || $0 == " " || $0 == "\t" }.trimmed().lowercased()
      rest = rest[rest.index(after: equals)...]
      parameters[name] = rest.first == "\"" ? quoted(&rest) : word(&rest)
    }
    return parameters
  }

  /// RFC 9110 section 5.6.4.
  private static func quoted(_ rest: inout Substring) -> String {
    var value = ""
    rest = rest.dropFirst()
    while let character = rest.popFirst(), character != "\"" {
      guard character == "\\" else {
        value.append(character)
        continue
      }
      if let next = rest.popFirst() { value.append(next) }
    }
    return value
  }

  private static func word(_ rest: inout Substring) -> String {
    let end = rest.firstIndex(of: ",") ?? rest.endIndex
    defer { rest = rest[end...] }
    return rest[..<end].trimmed()
  }

  /// Whether the parameters prove that the player knows the secret.
  func verify(_ parameters: [String: String], method: String, secrets: Secrets, hashes: any Hashes) -> Verdict {
    guard let response = parameters["response"], let uri = parameters["uri"], let sent = parameters["nonce"],
      parameters["realm"] == Self.realm
    else { return .wrong }
    // By its length, as some name the algorithm that they were offered first and use MD5.
    let isSHA256 = response.utf8.count == 64
    let hash = { (text: String) in
      (isSHA256 ? hashes.sha256(Array(text.utf8)) : hashes.md5(Array(text.utf8))).hexadecimal()
    }
    var middle = sent
    if let qop = parameters["qop"], !qop.isEmpty {
      guard qop == "auth", let count = parameters["nc"], let cnonce = parameters["cnonce"] else { return .wrong }
      middle += ":\(count):\(cnonce):\(qop)"
    }
    let expected = hash("\(isSHA256 ? secrets.sha256 : secrets.md5):\(middle):" + hash("\(method):\(uri)"))
    guard constantTimeEqual(expected.utf8, response.lowercased().utf8) else { return .wrong }
    return sent == nonce ? .right : .stale
  }
}
