public import Control
internal import NightReport

extension EventStore {
  private static let columns = "sequence, time, kind, level, name, id, detail, began, acknowledged, count"

  /// The events after `since`, oldest first, at most `limit`; without `since` the latest ones.
  ///
  /// - Parameter level: less grave events are left out. Those without a level count as notices.
  /// - Throws: `StoreError`.
  public func events(since: UInt64?, limit: Int, level: EventLevel? = nil) throws(StoreError) -> [EventDocument] {
    var condition = "sequence > \(Int64(clamping: since ?? 0))"
    if let level, level > .notice {
      condition += " AND level IN (\(level.andAbove.map { "'\($0.rawValue)'" }.joined(separator: ", ")))"
    }
    let order = since == nil ? "DESC" : "ASC"
    let found = try events("WHERE \(condition) ORDER BY sequence \(order) LIMIT \(max(0, limit))")
    return since == nil ? found.reversed() : found
  }

  /// The report of a time. Both are computed in one pass over the minutes.
  ///
  /// - Parameter pending: events that are not stored yet; those of other kinds than a report's are ignored.
  /// - Throws: `StoreError`.
  public func report(
    from: Int64, to: Int64, now: Int64, noiseDb: Double, pending: [EventDocument] = []
  ) throws(StoreError) -> ReportDocument {
    var builder = ReportBuilder(from: from, to: to, now: now, noiseDb: noiseDb)
    let names: [Int: [String]]
    do throws(SQLiteError) {
      try read(builder.range, into: &builder)
      names = try self.names()
    } catch {
      throw Self.storeError(error, path)
    }
    let kinds = ReportBuilder.kinds.map { "'\($0)'" }.joined(separator: ", ")
    let start = Double(from) - ReportBuilder.lead
    let stored = try events(
      """
      WHERE time >= \(start) AND time < \(Double(to)) AND kind IN (\(kinds))
      ORDER BY sequence DESC LIMIT \(Self.maximumReported)
      """)
    let last = stored.first?.sequence ?? 0
    let more = pending.filter { event in
      event.sequence > last && event.time >= start && event.time < Double(to)
        && ReportBuilder.kinds.contains(event.kind)
    }
    return builder.finish(names: names, events: stored.reversed() + more)
  }

  /// A household's year has some thousands. A viewer that comes and goes all night must not fill the memory.
  private static let maximumReported = 20_000

  private func read(_ range: Range<Int64>, into builder: inout ReportBuilder) throws(SQLiteError) {
    let statement = try database.prepare(
      """
      SELECT minute, delivered, peak, mean, audience FROM minutes
      WHERE minute >= \(range.lowerBound) AND minute < \(range.upperBound) ORDER BY minute
      """)
    while try statement.step() {
      builder.add(
        NightMinute(
          minute: statement.integer(0), isDelivered: statement.integer(1) != 0,
          peak: statement.optionalInteger(2).map { Int16(clamping: $0) },
          mean: statement.optionalInteger(3).map { Int16(clamping: $0) },
          audience: Int(statement.integer(4))))
    }
  }

  private func events(_ rest: String) throws(StoreError) -> [EventDocument] {
    do throws(SQLiteError) {
      var result: [EventDocument] = []
      let statement = try database.prepare("SELECT \(Self.columns) FROM events \(rest)")
      while try statement.step() {
        result.append(
          EventDocument(
            sequence: UInt64(clamping: statement.integer(0)), kind: statement.text(2) ?? "", level: statement.text(3),
            time: statement.double(1), name: statement.text(4), id: statement.text(5), detail: statement.text(6),
            began: statement.optionalDouble(7), acknowledgedAt: statement.optionalDouble(8),
            count: statement.optionalInteger(9).map { Int(clamping: $0) }))
      }
      return result
    } catch {
      throw Self.storeError(error, path)
    }
  }
}
