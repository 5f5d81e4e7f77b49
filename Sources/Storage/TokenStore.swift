public import FoundationEssentials
public import Pairing
public import RTSP
public import Wire

/// A bearer token as stored: its permissions and its hash, not its text.
public struct TokenRecord: Sendable, Hashable {
  public let name: String
  public let allow: Permissions
  /// SHA-256 of the whole token text, 64 lower-case hexadecimal digits.
  public let hash: String
  public let createdAt: Date
  public internal(set) var lastUsedAt: Date?
  /// When it expires; nil for never.
  public let expiresAt: Date?
  /// What verifies it over RTSP; nil for one that was not made for that.
  public let rtsp: DigestAccess.Secrets?
  /// It has been seen to be expired. It stays so, even if the clock is set back.
  public internal(set) var hasExpired = false

  /// Distinguishes it from a later token of the same name: 16 hexadecimal digits of the hash, which reveal nothing.
  public var id: String { String(hash.prefix(16)) }

  /// Whether it has expired at `date`, or was seen to be expired before.
  public func isExpired(at date: Date) -> Bool {
    hasExpired || expiresAt.map { $0 <= date } ?? false
  }

  /// Whether it may be used at `date`: not expired, and if it has an expiry date, not created in the future.
  public func isUsable(at date: Date) -> Bool {
    !isExpired(at: date) && !(expiresAt != nil && UnixTime(date: createdAt).isInTheFuture(of: UnixTime(date: date)))
  }
}

/// Bearer tokens for third-party players, kept hashed in `tokens.json`. interfaces/commands.md, "Commands" and "Files".
///
/// A value of this type exists only after its file was read or found absent, so a damaged file is never overwritten.
public struct TokenStore: Sendable {
  /// The maximum number of tokens.
  public static let maximumTokens = 64
  /// Prefix of every token, so that a leaked one can be recognised.
  public static let prefix = "cradle_"
  /// 192 bits. That cannot be guessed, so the hash needs no salt and need not be slow.
  private static let randomBytes = 24

  /// The maximum number of removed tokens that are remembered.
  public static let maximumRemoved = 16

  /// All tokens in the order they were added.
  public private(set) var tokens: [TokenRecord]
  /// Tokens that were revoked or replaced, the newest last: for words to who still has one.
  public private(set) var removed: [TokenRecord]
  /// Whether there are notes that are not on disk yet.
  public private(set) var hasUnsavedUses = false
  private let store: JSONStore<Content>
  /// Its `whenWritten` says when a change is on disk.
  public var file: AtomicFile { store.file }
  private let hashes: any Hashes

  private struct Content: Codable {
    var tokens: [TokenRecord]
    /// Nil: none.
    var removed: [TokenRecord]?
  }

  /// Opens the store. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public init(file: AtomicFile, hashes: any Hashes) throws(StoreError) {
    self.hashes = hashes
    store = JSONStore(file: file)
    let content = try store.load()
    tokens = content?.tokens ?? []
    removed = content?.removed ?? []
    if let name = Self.firstDuplicate(tokens.map(\.name)) {
      throw .damaged(path: file.path, offset: nil, reason: "two tokens have the name “\(name)”")
    }
  }

  /// Creates a token and saves the store. The returned text is shown once and is not stored anywhere. Removes an
  /// expired token of the same name, and all expired ones if the store is full.
  /// - Parameters:
  ///   - name: 1...64 printable characters, not in use by a token that has not expired: nor in other case, as of `PairName`.
  ///   - allow: At least one of `Permissions.allowedForTokens`.
  ///   - expiresAt: When it expires; nil for never.
  ///   - isForRTSP: RTSP players may use it, with its name as the user: letters, digits, `.`, `-` and `_` then.
  ///   - now: The value of `createdAt`.
  /// - Throws: `StoreError.invalidName`, `.duplicateName`, `.notAllowed`, `.full` or `.file`; nothing has changed then.
  public mutating func add(
    name: String, allow: Permissions, expiresAt: Date? = nil, isForRTSP: Bool = false, now: Date = Date()
  ) throws(StoreError) -> String {
    guard Self.isName(name) else { throw .invalidName(name) }
    guard !isForRTSP || Self.isUser(name) else { throw .invalidUser(name) }
    let isSame = { (record: TokenRecord) in record.name.lowercased() == name.lowercased() }
    var kept = tokens.filter { !isSame($0) || !$0.isExpired(at: now) }
    if kept.count >= Self.maximumTokens { kept.removeAll { $0.isExpired(at: now) } }
    if let other = kept.first(where: isSame) { throw .duplicateName(other.name) }
    guard !allow.isEmpty, allow.isSubset(of: .allowedForTokens) else {
      throw .notAllowed(allow.subtracting(.allowedForTokens).names)
    }
    guard kept.count < Self.maximumTokens else { throw .full(maximum: Self.maximumTokens) }
    var random = SystemRandomNumberGenerator()
    let secret = (0..<Self.randomBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
    let token = Self.prefix + Base64URL.encode(secret)
    let record = TokenRecord(
      name: name, allow: allow, hash: hash(token), createdAt: now, lastUsedAt: nil, expiresAt: expiresAt,
      rtsp: isForRTSP ? DigestAccess.Secrets(user: name, secret: token, hashes: hashes) : nil)
    try save(kept + [record])
    return token
  }

  /// By name, then by name ignoring case: files of earlier versions may have several that differ in nothing else, of which
  /// none is found so.
  public func find(_ name: String) -> TokenRecord? {
    if let record = tokens.first(where: { $0.name == name }) { return record }
    let matches = tokens.filter { $0.name.lowercased() == name.lowercased() }
    return matches.count == 1 ? matches[0] : nil
  }

  /// Removes a token (`find`) and saves the store. Throws `StoreError.unknownName` or `.file`; nothing has changed then.
  @discardableResult
  public mutating func revoke(name: String) throws(StoreError) -> TokenRecord {
    guard let record = find(name) else { throw .unknownName(name) }
    try save(tokens.filter { $0.name != record.name }, removes: true)
    return record
  }

  /// The token's record; nil if it is unknown or must not be used at `now`. The time this takes reveals nothing about
  /// the hashes. The use is noted in memory and written by `saveUses`: writing each use would wear out an SD card.
  public mutating func verify(_ token: String, now: Date = Date()) -> TokenRecord? {
    guard let found = index(of: token), tokens[found].isUsable(at: now) else { return nil }
    tokens[found].lastUsedAt = now
    hasUnsavedUses = true
    return tokens[found]
  }

  /// As `verify` does.
  public mutating func recordUse(id: String, now: Date = Date()) {
    guard let index = tokens.firstIndex(where: { $0.id == id }) else { return }
    tokens[index].lastUsedAt = now
    hasUnsavedUses = true
  }

  /// The record of a token, whether it may be used or not, and whether it was removed: for words about it. Nil if it is unknown.
  public func record(of token: String) -> (record: TokenRecord, isRemoved: Bool)? {
    if let index = index(of: token) { return (tokens[index], false) }
    return index(of: token, in: removed).map { (removed[$0], true) }
  }

  private func index(of token: String) -> Int? { index(of: token, in: tokens) }

  private func index(of token: String, in records: [TokenRecord]) -> Int? {
    guard token.utf8.count <= 256 else { return nil }
    let hash = hash(token)
    var found: Int?
    for (index, record) in records.enumerated() where constantTimeEqual(record.hash.utf8, hash.utf8) { found = index }
    return found
  }

  /// Marks in memory the tokens that have expired at `date`: they stay expired even if the clock is set back.
  /// `saveUses` writes the marks.
  /// - Parameter start: older ones are left alone: `date` may be wrong for them. `TrustedClock.firmSince`.
  /// - Returns: the newly marked tokens.
  public mutating func markExpired(at date: UnixTime, madeSince start: UnixTime) -> [TokenRecord] {
    let expired = tokens.indices.filter { index in
      !tokens[index].hasExpired && tokens[index].isExpired(at: date.date)
        && UnixTime(date: tokens[index].createdAt) >= start
    }
    for index in expired { tokens[index].hasExpired = true }
    if !expired.isEmpty { hasUnsavedUses = true }
    return expired.map { tokens[$0] }
  }

  /// No token was used later than at `date`, which has to be known: what was noted while the clock was far ahead is put right
  /// in memory; `saveUses` writes it.
  public mutating func correctLastUse(to date: UnixTime) {
    for index in tokens.indices {
      guard let used = tokens[index].lastUsedAt, UnixTime(date: used).isInTheFuture(of: date) else { continue }
      tokens[index].lastUsedAt = date.date
      hasUnsavedUses = true
    }
  }

  /// Writes any unsaved notes. Call it from time to time, and before the program ends.
  public mutating func saveUses() throws(StoreError) {
    if hasUnsavedUses { try save(tokens) }
  }

  private mutating func save(_ changed: [TokenRecord], removes: Bool = false) throws(StoreError) {
    let gone = tokens.filter { old in !changed.contains { $0.hash == old.hash } }
    let remembered = Array((removed + gone).suffix(Self.maximumRemoved))
    try store.save(Content(tokens: changed, removed: remembered.isEmpty ? nil : remembered), removes: removes)
    tokens = changed
    removed = remembered
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

  /// It stands in an address, and between colons in what is hashed.
  private static func isUser(_ name: String) -> Bool {
    name.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || "-._".utf8.contains(byte)
    }
  }

  private func hash(_ token: String) -> String {
    hashes.sha256(Array(token.utf8)).hexadecimal()
  }
}

extension TokenRecord: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, allow, hash, createdAt, lastUsedAt, expiresAt, expired, rtsp
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
    rtsp = try values.decodeIfPresent(DigestAccess.Secrets.self, forKey: .rtsp)
    hasExpired = try values.decodeIfPresent(Bool.self, forKey: .expired) ?? false
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    try values.encode(allow.names, forKey: .allow)
    try values.encode(hash, forKey: .hash)
    try values.encode(createdAt, forKey: .createdAt)
    try values.encodeIfPresent(lastUsedAt, forKey: .lastUsedAt)
    try values.encodeIfPresent(expiresAt, forKey: .expiresAt)
    try values.encodeIfPresent(rtsp, forKey: .rtsp)
    if hasExpired { try values.encode(true, forKey: .expired) }
  }
}
