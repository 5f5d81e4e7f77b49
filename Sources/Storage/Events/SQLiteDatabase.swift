internal import CSQLite
internal import Glibc

/// A failed call of SQLite. https://sqlite.org/rescode.html
struct SQLiteError: Error, Hashable {
  /// The extended result code.
  let code: Int32
  let message: String

  /// The file is not what SQLite writes.
  var isDamage: Bool {
    let primary = code & 0xff
    return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB
  }
}

/// Owns a connection to a database file. One thread at a time.
struct SQLiteDatabase: ~Copyable {
  fileprivate let handle: OpaquePointer

  /// Opens a file that exists.
  init(path: String) throws(SQLiteError) {
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let handle else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory"
      sqlite3_close_v2(handle)
      throw SQLiteError(code: code, message: message)
    }
    self.handle = handle
    sqlite3_extended_result_codes(handle, 1)
  }

  /// Statements that are still there keep the file open until they are gone.
  deinit {
    sqlite3_close_v2(handle)
  }

  /// Runs statements without parameters.
  func execute(_ sql: String) throws(SQLiteError) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw lastError }
  }

  func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
    var statement: OpaquePointer?
    // Kept for long: SQLite may spend time on its plan.
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw lastError }
    return SQLiteStatement(handle: statement)
  }

  /// The first column of the first row; nil without a row.
  func integer(_ sql: String) throws(SQLiteError) -> Int64? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.integer(0) : nil
  }

  /// Whether a statement failed in a way that ended the transaction.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  private var lastError: SQLiteError {
    SQLiteError(code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)))
  }
}

/// Owns a prepared statement. Parameters count from 1, columns from 0.
struct SQLiteStatement: ~Copyable {
  private let handle: OpaquePointer

  fileprivate init(handle: OpaquePointer) {
    self.handle = handle
  }

  deinit {
    sqlite3_finalize(handle)
  }

  /// The next row; false after the last one.
  func step() throws(SQLiteError) -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    let database = sqlite3_db_handle(handle)
    let error = SQLiteError(
      code: sqlite3_extended_errcode(database), message: String(cString: sqlite3_errmsg(database)))
    sqlite3_reset(handle)
    throw error
  }

  /// Runs it to its end, and makes it ready for other parameters.
  func run() throws(SQLiteError) {
    defer { reset() }
    while try step() {}
  }

  /// Makes it ready for other parameters.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  // Binding fails only for an index that is not there, which is a mistake in this folder.

  func bind(_ index: Int32, _ value: Int64?) {
    if let value {
      sqlite3_bind_int64(handle, index, value)
    } else {
      sqlite3_bind_null(handle, index)
    }
  }

  func bind(_ index: Int32, _ value: Double?) {
    if let value {
      sqlite3_bind_double(handle, index, value)
    } else {
      sqlite3_bind_null(handle, index)
    }
  }

  func bind(_ index: Int32, _ value: String?) {
    guard let value else {
      sqlite3_bind_null(handle, index)
      return
    }
    let count = Int32(clamping: value.utf8.count)
    value.withCString { _ = csqlite_bind_text(handle, index, $0, count) }
  }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// SQLite returns 0 for NULL.
  func optionalInteger(_ column: Int32) -> Int64? {
    let value = integer(column)
    return value == 0 && isNull(column) ? nil : value
  }

  func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  func optionalDouble(_ column: Int32) -> Double? { isNull(column) ? nil : double(column) }

  /// What is not UTF-8 is repaired.
  func text(_ column: Int32) -> String? {
    guard let start = sqlite3_column_text(handle, column) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
