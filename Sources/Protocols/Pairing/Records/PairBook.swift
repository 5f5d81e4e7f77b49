/// All pairs of one end, and the rules for them. A value type: `PairStore` keeps it on disk.
public struct PairBook: Hashable, Sendable {
  public static let maximumRecords = 64

  /// In the order in which they were paired.
  public private(set) var records: [PairRecord]

  /// Result of looking up a name or id that a person entered.
  public enum Lookup: Hashable, Sendable {
    case found(PairRecord)
    /// Several have this name; their ids tell them apart.
    case ambiguous([PairRecord])
    case none
  }

  /// The book is full of pairs that have not expired.
  public struct Full: Error, Hashable, Sendable {}

  /// From stored records. Nil if there are too many, or duplicate ids.
  public init?(records: [PairRecord] = []) {
    guard records.count <= Self.maximumRecords, Set(records.map(\.id)).count == records.count else { return nil }
    self.records = records
  }

  /// Adds a pair and replaces any with the same key. When the book is full, the one that expired first is removed.
  public mutating func add(_ record: PairRecord, date: UnixTime) throws(Full) {
    var changed = records.filter { $0.id != record.id && $0.publicKey != record.publicKey }
    if changed.count >= Self.maximumRecords {
      let expired = changed.filter { $0.isExpired(at: date) }
      guard let first = expired.min(by: { ($0.expiresAt ?? date) < ($1.expiresAt ?? date) }) else { throw Full() }
      changed.removeAll { $0.id == first.id }
    }
    records = changed + [record]
  }

  /// The record under a name that no other one has: people and reports tell them apart by it.
  public func named(_ record: PairRecord) -> PairRecord {
    var record = record
    record.name = PairName.numbered(record.name, among: records.filter { $0.id != record.id }.map(\.name))
    return record
  }

  /// The fewest digits of an id that stand for it.
  public static let minimumDigits = 4

  /// Whether `text` is the beginning of an id, or all of it.
  public static func isID(_ id: String, _ text: String) -> Bool {
    text.utf8.count >= minimumDigits && id.hasPrefix(text.lowercased())
  }

  /// By id, then by name, then by name ignoring case, then by the first digits of an id. Finds expired pairs, too: they can
  /// still be revoked.
  public func find(_ text: String) -> Lookup {
    if let record = records.first(where: { $0.id == text }) { return .found(record) }
    for matches in [
      records.filter { $0.name == text }, records.filter { $0.name.lowercased() == text.lowercased() },
      records.filter { Self.isID($0.id, text) },
    ] where !matches.isEmpty {
      return matches.count == 1 ? .found(matches[0]) : .ambiguous(matches)
    }
    return .none
  }

  /// Marks the pairs that have expired at `date`, so that a clock set back does not admit them again.
  /// - Parameter start: older ones are left alone: `date` may be wrong for them. `TrustedClock.firmSince`.
  /// - Returns: those not marked before.
  public mutating func markExpired(at date: UnixTime, madeSince start: UnixTime) -> [PairRecord] {
    records.indices.compactMap { index in
      guard !records[index].hasExpired, records[index].isExpired(at: date), records[index].createdAt >= start else {
        return nil
      }
      records[index].hasExpired = true
      return records[index]
    }
  }

  /// Removes a pair; nil if there is none with this id.
  @discardableResult
  public mutating func revoke(id: String) -> PairRecord? {
    records.firstIndex { $0.id == id }.map { records.remove(at: $0) }
  }

  /// Records when and where the holder of the key was last seen; false if there is no such pair.
  @discardableResult
  public mutating func touch(id: String, date: UnixTime, address: KnownAddress? = nil) -> Bool {
    guard let index = records.firstIndex(where: { $0.id == id }) else { return false }
    records[index].lastSeenAt = date
    if date.seconds - records[index].createdAt.seconds >= PairRecord.completedAfterSeconds {
      records[index].awaitsConfirmation = false
    }
    if let address { records[index].lastAddress = address }
    return true
  }

  /// Nobody was here later than now: what was noted while the clock was far ahead becomes `date`.
  /// - Returns: whether anything has changed.
  public mutating func correctLastSeen(to date: UnixTime) -> Bool {
    let wrong = records.indices.filter { records[$0].lastSeenAt?.isInTheFuture(of: date) == true }
    for index in wrong { records[index].lastSeenAt = date }
    return !wrong.isEmpty
  }

  /// The parent has confirmed the check words; false if there is no such pair.
  @discardableResult
  public mutating func confirm(id: String, date: UnixTime) -> Bool {
    guard let index = records.firstIndex(where: { $0.id == id }) else { return false }
    records[index].awaitsConfirmation = false
    records[index].lastSeenAt = date
    return true
  }

  // MARK: - Who owns the child

  /// Whether anybody has completed pairing and may still use it. The first to do so owns the child.
  public func hasCompleted(at date: UnixTime) -> Bool {
    records.contains { $0.isCompleted && $0.isUsable(at: date) }
  }

  /// Whether somebody may let others in and remove them, and uses that pair.
  public func hasOwner(at date: UnixTime) -> Bool {
    records.contains { $0.isCompleted && $0.isUsable(at: date) && $0.permissions.contains(.admin) }
  }

  /// Pairs with `admin` that were begun before this one and never completed: of a phone that went away at the check words,
  /// say. They give way to an owner.
  public func abandoned(before id: String) -> [PairRecord] {
    guard let index = records.firstIndex(where: { $0.id == id }),
      records[index].isCompleted && records[index].permissions.contains(.admin)
    else { return [] }
    return records[..<index].filter { $0.awaitsConfirmation && $0.permissions.contains(.admin) }
  }
}
