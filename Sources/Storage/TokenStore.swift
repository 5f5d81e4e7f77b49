public import FoundationEssentials
public import Pairing
public import Wire

/// A bearer token as it is stored: what it may do, and its hash only.
public struct TokenRecord: Sendable, Hashable {
  public let name: String
  public let allow: Permissions
  /// SHA-256 of the whole token text, 64 lower-case hexadecimal digits.
  public let hash: String
  public let createdAt: Date
  public internal(set) var lastUsedAt: Date?
  /// From when on it is refused; nil for never.
  public let expiresAt: Date?
}

/// Bearer tokens for third-party players, kept hashed in `tokens.json`. INTERFACES.md, "Programs" and "Files".
///
/// A value of this type exists only after its file was read or found absent, so a damaged file is never overwritten.
public struct TokenStore: Sendable {
  /// How many tokens there may be.
  public static let maximumTokens = 64
  /// What each token begins with, so that one that leaked is recognised for what it is.
  public static let prefix = "cradle_"
  /// 192 bits; no salt or slow hash is needed for what nobody can guess.
  private static let randomBytes = 24

  /// All tokens in the order in which they were added.
  public private(set) var tokens: [TokenRecord]
  /// Whether `lastUsedAt` has changed since the last save.
  public private(set) var hasUnsavedUses = false
  private let store: JSONStore
  private let hashes: any Hashes

  private struct Content: Codable {
    var version = 1
    var tokens: [TokenRecord]
  }

  /// Opens the store. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public init(file: AtomicFile, hashes: any Hashes) throws(StoreError) {
    self.hashes = hashes
    store = JSONStore(file: file, version: 1)
    let content = try store.load(Content.self)
    tokens = content?.tokens ?? []
    if let name = Self.firstDuplicate(tokens.map(\.name)) {
      throw .damaged(path: file.path, offset: nil, reason: "the name “\(name)” stands twice")
    }
  }

  /// Makes a token and saves the store. The text returned is shown once and stands nowhere else.
  /// - Parameters:
  ///   - name: 1...64 printable characters, not yet in use.
  ///   - allow: At least one of `Permissions.allowedForTokens`.
  ///   - expiresAt: From when on it is refused; nil for never.
  ///   - now: Goes into `createdAt`.
  /// - Throws: `StoreError.invalidName`, `.duplicateName`, `.notAllowed`, `.full` or `.file`; nothing has changed then.
  public mutating func add(
    name: String, allow: Permissions, expiresAt: Date? = nil, now: Date = Date()
  ) throws(StoreError) -> String {
    guard Self.isName(name) else { throw .invalidName(name) }
    guard !tokens.contains(where: { $0.name == name }) else { throw .duplicateName(name) }
    guard !allow.isEmpty, allow.isSubset(of: .allowedForTokens) else {
      throw .notAllowed(allow.subtracting(.allowedForTokens).names)
    }
    guard tokens.count < Self.maximumTokens else { throw .full(maximum: Self.maximumTokens) }
    var random = SystemRandomNumberGenerator()
    let secret = (0..<Self.randomBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
    let token = Self.prefix + Self.base64URL(secret)
    let record = TokenRecord(
      name: name, allow: allow, hash: hash(token), createdAt: now, lastUsedAt: nil, expiresAt: expiresAt)
    try save(tokens + [record])
    return token
  }

  /// Takes a token away and saves the store. Throws `StoreError.unknownName` or `.file`; nothing has changed then.
  public mutating func revoke(name: String) throws(StoreError) {
    guard tokens.contains(where: { $0.name == name }) else { throw .unknownName(name) }
    try save(tokens.filter { $0.name != name })
  }

  /// The token's record, or nil when it is unknown or has expired. How long this takes tells nothing about the hashes.
  /// The use is noted in memory; `saveUses` writes it, since a player that asks again and again must not wear out an
  /// SD card.
  public mutating func verify(_ token: String, now: Date = Date()) -> TokenRecord? {
    guard token.utf8.count <= 256 else { return nil }
    let hash = hash(token)
    var found: Int?
    for (index, record) in tokens.enumerated() where constantTimeEqual(record.hash.utf8, hash.utf8) { found = index }
    guard let found else { return nil }
    if let end = tokens[found].expiresAt, end <= now { return nil }
    tokens[found].lastUsedAt = now
    hasUnsavedUses = true
    return tokens[found]
  }

  /// Writes the noted uses, if there are any. For now and then, and for the end.
  public mutating func saveUses() throws(StoreError) {
    if hasUnsavedUses { try save(tokens) }
  }

  private mutating func save(_ changed: [TokenRecord]) throws(StoreError) {
    try store.save(Content(tokens: changed))
    tokens = changed
    hasUnsavedUses = false
  }

  private static func firstDuplicate(_ names: [String]) -> String? {
    var seen: Set<String> = []
    return names.first { !seen.insert($0).inserted }
  }

  private static func isName(_ name: String) -> Bool {
    (1...64).contains(name.count) && name.utf8.count <= 256 && name.unicodeScalars.allSatisfy(\.isPrintable)
      && name.first != " " && name.last != " "
  }

  private func hash(_ token: String) -> String {
    hashes.sha256(Array(token.utf8)).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }

  /// RFC 4648 section 5, for a multiple of three bytes, which needs no padding.
  private static func base64URL(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count - 2, by: 3) {
      let group = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
      text += [18, 12, 6, 0].map { alphabet[group >> $0 & 63] }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension Unicode.Scalar {
  /// Not a control, format, surrogate, private or unassigned code point, and no line break.
  var isPrintable: Bool {
    // Joins the parts of many emoji.
    if self == "\u{200d}" { return true }
    return switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}

extension TokenRecord: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, allow, hash, createdAt, lastUsedAt, expiresAt
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    name = try values.decode(String.self, forKey: .name)
    hash = try values.decode(String.self, forKey: .hash)
    guard hash.utf8.count == 64 else {
      throw DecodingError.dataCorruptedError(forKey: .hash, in: values, debugDescription: "not a SHA-256")
    }
    guard let allow = Permissions(names: try values.decode([String].self, forKey: .allow)),
      allow.isSubset(of: .allowedForTokens)
    else { throw DecodingError.dataCorruptedError(forKey: .allow, in: values, debugDescription: "not allowed") }
    self.allow = allow
    createdAt = try values.decode(Date.self, forKey: .createdAt)
    lastUsedAt = try values.decodeIfPresent(Date.self, forKey: .lastUsedAt)
    expiresAt = try values.decodeIfPresent(Date.self, forKey: .expiresAt)
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    try values.encode(allow.names, forKey: .allow)
    try values.encode(hash, forKey: .hash)
    try values.encode(createdAt, forKey: .createdAt)
    try values.encodeIfPresent(lastUsedAt, forKey: .lastUsedAt)
    try values.encodeIfPresent(expiresAt, forKey: .expiresAt)
  }
}
