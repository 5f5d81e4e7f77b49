internal import CSQLite
public import Control
internal import Glibc
internal import JSON
public import NightReport

/// How much the event store keeps.
public struct EventStoreLimits: Hashable, Sendable {
  /// Older events and minutes are removed.
  public var seconds: Double = 366 * 86_400
  /// Size of the database, in bytes. With its journal, which has 4 MiB at most, it is 64 MiB.
  public var bytes: Int64 = 60 << 20

  public init() {}
}

/// What happened, and the minutes of the child's room: `events/events.db` in the state directory, a SQLite database.
/// interfaces/files.md, "Files".
///
/// It is append-only but for what is too old or too much. What `append` has returned for is on the disk: the write-ahead log
/// is synced with each commit, so a power cut loses only what was not yet acknowledged. The state directory's lock keeps
/// other processes out, so that no shared memory is needed.
///
/// `@unchecked Sendable`: to be used by one thread at a time.
public final class EventStore: @unchecked Sendable {
  static let version: Int64 = 1
  /// "Crdl": file(1) and a careful reader can see whose database it is.
  private static let application: Int64 = 0x4372_646c
  private static let pageBytes: Int64 = 4096

  public let path: String
  let limits: EventStoreLimits
  // In this order: statements end before the connection that they belong to.
  private let insertEvent: SQLiteStatement
  private let insertMinute: SQLiteStatement
  private let insertAudience: SQLiteStatement
  private let findAudience: SQLiteStatement
  let database: SQLiteDatabase
  private var audiences: [[String]: Int64] = [[]: 0]
  /// The number of the latest event ever stored; 0 before the first.
  public private(set) var lastSequence: UInt64 = 0

  /// Opens the store in `folder`, or makes it.
  ///
  /// - Throws: `StoreError.damaged` when the file is not what SQLite writes, `.newerVersion` when a newer program wrote it,
  ///   `.file` for everything else. The file is left as it is.
  public init(folder: String, limits: EventStoreLimits = EventStoreLimits()) throws(StoreError) {
    let path = "\(folder)/events.db"
    self.path = path
    self.limits = limits
    do throws(FileError) {
      // SQLite gives its other files the mode and the owner of this one.
      let file = try FileDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
      file.belong(toOwnerOf: folder)
    } catch {
      throw .file(error)
    }
    do throws(SQLiteError) {
      database = try SQLiteDatabase(path: path)
      try Self.configure(database, limits)
      let found = try database.integer("PRAGMA user_version") ?? 0
      if found > Self.version {
        throw SQLiteError(code: Self.newer, message: "\(found)")
      }
      if found < 1 { try Self.makeTables(database) }
      try Self.addCounts(database)
      insertEvent = try database.prepare(
        """
        INSERT OR IGNORE INTO events(sequence, time, kind, level, name, id, detail, began, acknowledged, count)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """)
      insertMinute = try database.prepare(Self.minuteStatement)
      insertAudience = try database.prepare("INSERT INTO audiences(names) VALUES (?) RETURNING number")
      findAudience = try database.prepare("SELECT number FROM audiences WHERE names = ?")
      let last = try database.integer("SELECT max(sequence) FROM events") ?? 0
      lastSequence = UInt64(exactly: max(0, last)) ?? 0
    } catch {
      throw Self.storeError(error, path)
    }
  }

  // MARK: The file

  /// A code of our own, which SQLite does not have.
  private static let newer: Int32 = -1

  private static func configure(_ database: borrowing SQLiteDatabase, _ limits: EventStoreLimits) throws(SQLiteError) {
    // Exclusive before the journal is opened: then the log needs no memory map, which a failing card would turn into a
    // signal. FULL syncs the log with each commit; NORMAL would lose the last ones in a power cut.
    try database.execute(
      """
      PRAGMA page_size = \(pageBytes);
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 256;
      PRAGMA journal_size_limit = 4194304;
      PRAGMA cache_size = -512;
      PRAGMA temp_store = MEMORY;
      PRAGMA trusted_schema = OFF;
      PRAGMA max_page_count = \(limits.bytes / pageBytes);
      """)
  }

  /// Version 1. A level is a text, as on the wire: a newer child's stays what it is.
  private static func makeTables(_ database: borrowing SQLiteDatabase) throws(SQLiteError) {
    try database.execute(
      """
      BEGIN IMMEDIATE;
      CREATE TABLE events(
        sequence INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL, level TEXT, name TEXT, id TEXT,
        detail TEXT, began REAL, acknowledged REAL);
      CREATE INDEX events_by_time ON events(time);
      CREATE TABLE audiences(number INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
      CREATE TABLE minutes(
        minute INTEGER PRIMARY KEY, delivered INTEGER NOT NULL, peak INTEGER, mean INTEGER,
        audience INTEGER NOT NULL);
      PRAGMA application_id = \(application);
      PRAGMA user_version = \(version);
      COMMIT;
      """)
  }

  /// A column that came later. Earlier programs write and read the table without it, so the version stays.
  private static func addCounts(_ database: borrowing SQLiteDatabase) throws(SQLiteError) {
    let columns = try database.integer("SELECT count(*) FROM pragma_table_info('events') WHERE name = 'count'")
    if columns == 0 { try database.execute("ALTER TABLE events ADD COLUMN count INTEGER") }
  }

  static func storeError(_ error: SQLiteError, _ path: String) -> StoreError {
    if error.code == newer { return .newerVersion(path: path, found: Int(error.message) ?? 0, supported: Int(version)) }
    if error.isDamage { return .damaged(path: path, offset: nil, reason: error.message) }
    let number: Int32 =
      switch error.code & 0xff {
      case SQLITE_FULL: ENOSPC
      case SQLITE_READONLY: EROFS
      case SQLITE_PERM, SQLITE_CANTOPEN, SQLITE_AUTH: EACCES
      case SQLITE_BUSY, SQLITE_LOCKED: EBUSY
      case SQLITE_NOMEM: ENOMEM
      default: EIO
      }
    return .file(FileError(operation: "use", path: path, code: number))
  }

  // MARK: Appending

  /// Two halves of one minute, as around a restart, become one: whoever heard either heard it.
  private static let minuteStatement =
    """
    INSERT INTO minutes(minute, delivered, peak, mean, audience) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT(minute) DO UPDATE SET
      delivered = min(delivered, excluded.delivered),
      peak = CASE WHEN peak IS NULL OR excluded.peak > peak THEN excluded.peak ELSE peak END,
      mean = coalesce((mean + excluded.mean) / 2, mean, excluded.mean),
      audience = excluded.audience
    """

  /// Stores events and minutes, all or none. When it returns, they are on the disk.
  ///
  /// An event whose number is there already is left out: it was stored before an answer got lost.
  ///
  /// - Throws: `StoreError`; nothing has changed then.
  public func append(_ events: some Collection<EventDocument>, minutes: [MinuteRecord] = []) throws(StoreError) {
    guard !events.isEmpty || !minutes.isEmpty else { return }
    let known = audiences
    do throws(SQLiteError) {
      try transaction { () throws(SQLiteError) in
        for event in events { try insert(event) }
        for minute in minutes { try insert(minute) }
      }
    } catch {
      audiences = known
      throw Self.storeError(error, path)
    }
    lastSequence = max(lastSequence, events.map(\.sequence).max() ?? 0)
  }

  func transaction(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    try database.execute("BEGIN IMMEDIATE")
    do throws(SQLiteError) {
      try body()
      try database.execute("COMMIT")
    } catch {
      if database.isInTransaction { try? database.execute("ROLLBACK") }
      throw error
    }
  }

  private func insert(_ event: EventDocument) throws(SQLiteError) {
    insertEvent.bind(1, Int64(clamping: event.sequence))
    insertEvent.bind(2, event.time)
    insertEvent.bind(3, event.kind)
    insertEvent.bind(4, event.level)
    insertEvent.bind(5, event.name)
    insertEvent.bind(6, event.id)
    insertEvent.bind(7, event.detail)
    insertEvent.bind(8, event.began)
    insertEvent.bind(9, event.acknowledgedAt)
    insertEvent.bind(10, event.count.map { Int64($0) })
    try insertEvent.run()
  }

  private func insert(_ minute: MinuteRecord) throws(SQLiteError) {
    var listeners = minute.listeners
    if let earlier = try self.listeners(ofMinute: minute.minute) {
      listeners = Set(listeners).union(earlier).sorted()
    }
    insertMinute.bind(1, minute.minute)
    insertMinute.bind(2, minute.isDelivered ? 1 : Int64(0))
    insertMinute.bind(3, minute.peak.map { Int64($0) })
    insertMinute.bind(4, minute.mean.map { Int64($0) })
    insertMinute.bind(5, try number(ofAudience: listeners))
    try insertMinute.run()
  }

  /// Who heard a minute that is stored already; nil when it is not.
  private func listeners(ofMinute minute: Int64) throws(SQLiteError) -> [String]? {
    guard let number = try database.integer("SELECT audience FROM minutes WHERE minute = \(minute)") else { return nil }
    return try names(where: "number = \(number)")[Int(number)] ?? []
  }

  private func number(ofAudience names: [String]) throws(SQLiteError) -> Int64 {
    if let known = audiences[names] { return known }
    let text = JSON.text(names)
    findAudience.bind(1, text)
    defer { findAudience.reset() }
    var number: Int64
    if try findAudience.step() {
      number = findAudience.integer(0)
    } else {
      insertAudience.bind(1, text)
      defer { insertAudience.reset() }
      guard try insertAudience.step() else { return 0 }
      number = insertAudience.integer(0)
      while try insertAudience.step() {}
    }
    // As many as there are sets of a household's parents.
    if audiences.count > 1024 { audiences = [[]: 0] }
    audiences[names] = number
    return number
  }

  /// Who belongs to which audience.
  func names(where condition: String = "TRUE") throws(SQLiteError) -> [Int: [String]] {
    var result: [Int: [String]] = [:]
    let statement = try database.prepare("SELECT number, names FROM audiences WHERE \(condition)")
    while try statement.step() {
      guard let text = statement.text(1), let json = try? JSON(Array(text.utf8), maximumBytes: 64 * 1024),
        let list = try? json.decode([String].self)
      else { continue }
      result[Int(statement.integer(0))] = list
    }
    return result
  }
}
