internal import FoundationEssentials
public import Pairing
public import Wire

/// Pair records on disk: `pairs.json` in the state directory. The child stores its parents, the parent its children.
/// interfaces/files.md, "Files".
///
/// On the parent, each record may have one more member, `lastAddress: {host?, addresses, port}`: in the same file, so
/// that a child and its address are never stored separately.
///
/// A value of this type exists only after its file was read or found absent, so a damaged file is never overwritten.
public struct PairStore: Sendable {
  /// The content of the file when it was opened, plus every change since.
  public private(set) var book: PairBook
  /// Whether there are notes that are not on disk yet.
  public private(set) var hasUnsavedNotes = false
  private let store: JSONStore<Content>
  /// Its `whenWritten` says when a change is on disk.
  public var file: AtomicFile { store.file }

  private struct Content: Codable {
    var pairs: [StoredPair]
  }

  /// Opens the store. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public init(file: AtomicFile, hashes: any Hashes) throws(StoreError) {
    store = JSONStore(file: file)
    let records = try store.load()?.pairs.map(\.record) ?? []
    // The id is a digest of the key: if they differ, one of them has been changed.
    for (index, record) in records.enumerated()
    where record.id != IdentityKey.id(publicKeySPKI: record.publicKey, hashes: hashes) {
      throw .damaged(path: file.path, offset: nil, reason: "pairs[\(index)].id has an impossible value")
    }
    guard let book = PairBook(records: records) else {
      throw .damaged(
        path: file.path, offset: nil,
        reason: "it has one id twice, or more than \(PairBook.maximumRecords) pairs")
    }
    self.book = book
  }

  /// Adds a pair and saves the store; replaces an older one with the same key.
  /// - Throws: `StoreError.full` or `.file`; nothing has changed then.
  public mutating func add(_ record: PairRecord) throws(StoreError) {
    var changed = book
    do throws(PairBook.Full) {
      try changed.add(record, date: record.createdAt)
    } catch {
      throw .full(maximum: PairBook.maximumRecords)
    }
    try save(changed)
  }

  /// Removes a pair and saves the store. Throws `StoreError.unknownName` or `.file`; nothing has changed then.
  @discardableResult
  public mutating func revoke(id: String) throws(StoreError) -> PairRecord {
    var changed = book
    guard let record = changed.revoke(id: id) else { throw .unknownName(id) }
    try save(changed, removes: true)
    return record
  }

  /// Marks in memory the pairs that have expired at `date`: they stay expired even if the clock is set back.
  /// `saveNotes` writes the marks.
  /// - Parameter start: older ones are left alone: `date` may be wrong for them. `TrustedClock.firmSince`.
  /// - Returns: the newly marked pairs.
  public mutating func markExpired(at date: UnixTime, madeSince start: UnixTime) -> [PairRecord] {
    let expired = book.markExpired(at: date, madeSince: start)
    if !expired.isEmpty { hasUnsavedNotes = true }
    return expired
  }

  /// Notes in memory that a pair was here, and its address; `saveNotes` writes it. Writing each visit would wear out an
  /// SD card.
  public mutating func touch(id: String, date: UnixTime, address: KnownAddress? = nil) {
    if book.touch(id: id, date: date, address: address) { hasUnsavedNotes = true }
  }

  /// Nobody was here later than at `date`, which has to be known: what was noted while the clock was far ahead is put right in
  /// memory; `saveNotes` writes it.
  public mutating func correctLastSeen(to date: UnixTime) {
    if book.correctLastSeen(to: date) { hasUnsavedNotes = true }
  }

  /// The parent has confirmed the check words. Saves the store; throws `StoreError.unknownName` or `.file`, and nothing has
  /// changed then.
  public mutating func confirm(id: String, date: UnixTime) throws(StoreError) {
    var changed = book
    guard changed.confirm(id: id, date: date) else { throw .unknownName(id) }
    try save(changed)
  }

  /// Writes any unsaved notes. Call it from time to time, and before the program ends.
  public mutating func saveNotes() throws(StoreError) {
    if hasUnsavedNotes { try save(book) }
  }

  /// Writes the store as it is, to learn whether the disk takes it. Throws `StoreError.file`.
  public mutating func rewrite() throws(StoreError) { try save(book) }

  private mutating func save(_ changed: PairBook, removes: Bool = false) throws(StoreError) {
    try store.save(Content(pairs: changed.records.map(StoredPair.init(record:))), removes: removes)
    book = changed
    hasUnsavedNotes = false
  }
}

/// A pair record as JSON: dates in ISO 8601, the key in base64url.
private struct StoredPair: Codable {
  let record: PairRecord

  private enum CodingKeys: String, CodingKey {
    case id, name, role, publicKey, permissions, createdAt, lastSeenAt, expiresAt, expired, unconfirmed, lastAddress
  }

  private struct Address: Codable {
    var host: String?
    var addresses: [String]
    var port: UInt16
  }

  init(record: PairRecord) {
    self.record = record
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    func impossible(_ key: CodingKeys) -> DecodingError {
      .dataCorruptedError(forKey: key, in: values, debugDescription: "impossible")
    }
    func date(_ key: CodingKeys) throws -> UnixTime? {
      try values.decodeIfPresent(Date.self, forKey: key).map(UnixTime.init(date:))
    }
    guard let key = Base64URL.decode(try values.decode(String.self, forKey: .publicKey)),
      key.count == IdentityKey.byteCount
    else { throw impossible(.publicKey) }
    let id = try values.decode(String.self, forKey: .id)
    // A name that was edited by hand, or that uses newer Unicode, is not a reason to refuse the pair.
    let name = PairName.cleaned(try values.decode(String.self, forKey: .name), fallback: id)
    guard let role = PairRecord.Role(rawValue: try values.decode(String.self, forKey: .role)) else {
      throw impossible(.role)
    }
    guard let permissions = Permissions(names: try values.decode([String].self, forKey: .permissions)) else {
      throw impossible(.permissions)
    }
    let createdAt = UnixTime(date: try values.decode(Date.self, forKey: .createdAt))
    let address = try values.decodeIfPresent(Address.self, forKey: .lastAddress).map { address in
      let addresses = address.addresses.compactMap { IPAddress($0) }
      guard addresses.count == address.addresses.count else { throw impossible(.lastAddress) }
      return KnownAddress(host: address.host, addresses: addresses, port: address.port)
    }
    record = PairRecord(
      id: id, name: name, role: role, publicKey: key, permissions: permissions, createdAt: createdAt,
      lastSeenAt: try date(.lastSeenAt), expiresAt: try date(.expiresAt),
      hasExpired: try values.decodeIfPresent(Bool.self, forKey: .expired) ?? false,
      awaitsConfirmation: try values.decodeIfPresent(Bool.self, forKey: .unconfirmed) ?? false, lastAddress: address)
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(record.id, forKey: .id)
    try values.encode(record.name, forKey: .name)
    try values.encode(record.role.rawValue, forKey: .role)
    try values.encode(Base64URL.encode(record.publicKey), forKey: .publicKey)
    try values.encode(record.permissions.names, forKey: .permissions)
    try values.encode(record.createdAt.date, forKey: .createdAt)
    try values.encodeIfPresent(record.lastSeenAt?.date, forKey: .lastSeenAt)
    try values.encodeIfPresent(record.expiresAt?.date, forKey: .expiresAt)
    if record.hasExpired { try values.encode(true, forKey: .expired) }
    if record.awaitsConfirmation { try values.encode(true, forKey: .unconfirmed) }
    let address = record.lastAddress.map { address in
      Address(host: address.host, addresses: address.addresses.map(\.description), port: address.port)
    }
    try values.encodeIfPresent(address, forKey: .lastAddress)
  }
}
