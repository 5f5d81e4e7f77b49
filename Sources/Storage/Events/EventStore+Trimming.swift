// What is too old goes first; when there is still too much, what one person does most often makes room.

extension EventStore {
  /// Removes what is older than the limits allow, and makes room. Call it once an hour.
  ///
  /// When there is too much, the oldest events of the largest group go, where a group is one kind of event by one person:
  /// a viewer that toggles a light all night displaces only its own light events.
  ///
  /// - Parameter now: seconds since 1970-01-01 UTC, of a date that is certain: a wrong one removes a year of events.
  /// - Throws: `StoreError`.
  public func trim(now: Double) throws(StoreError) {
    do throws(SQLiteError) {
      let oldest = now - limits.seconds
      try transaction { () throws(SQLiteError) in
        // The newest event stays: the next one's number follows it.
        try database.execute(
          """
          DELETE FROM events WHERE time < \(oldest) AND sequence < (SELECT max(sequence) FROM events);
          DELETE FROM minutes WHERE minute < \((oldest / 60).rounded(.down));
          """)
      }
      while try isTooFull() {
        guard try removeFromTheLargestGroup() else { return }
      }
    } catch {
      throw Self.storeError(error, path)
    }
  }

  /// Pages in use, above nine tenths of what there may be.
  private func isTooFull() throws(SQLiteError) -> Bool {
    let pages = try database.integer("PRAGMA page_count") ?? 0
    let free = try database.integer("PRAGMA freelist_count") ?? 0
    let most = try database.integer("PRAGMA max_page_count") ?? .max
    return pages - free > most / 10 * 9
  }

  /// Removes a tenth of it, at least 1000. False when there is nothing to remove.
  private func removeFromTheLargestGroup() throws(SQLiteError) -> Bool {
    var removed: Int64 = 0
    try transaction { () throws(SQLiteError) in
      let largest = try database.prepare(
        "SELECT kind, name, count(*) FROM events GROUP BY kind, name ORDER BY 3 DESC LIMIT 1")
      guard try largest.step(), let kind = largest.text(0) else { return }
      let remove = try database.prepare(
        """
        DELETE FROM events WHERE sequence IN (
          SELECT sequence FROM events WHERE kind = ?1 AND name IS ?2 ORDER BY sequence LIMIT ?3)
          AND sequence < (SELECT max(sequence) FROM events)
        """)
      remove.bind(1, kind)
      remove.bind(2, largest.text(1))
      remove.bind(3, max(1000, largest.integer(2) / 10))
      largest.reset()
      try remove.run()
      removed = try database.integer("SELECT changes()") ?? 0
    }
    return removed > 0
  }
}
