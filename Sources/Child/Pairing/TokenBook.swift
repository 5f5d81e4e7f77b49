internal import FoundationEssentials
internal import Logging
internal import NIOCore
internal import Pairing
internal import Storage

/// The bearer tokens, for HTTP and the commands: their holders and expiry.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class TokenBook: @unchecked Sendable {
  private var store: TokenStore
  private let clock: ExpiryClock
  private let logger: Logger

  /// The token was revoked or has expired; its open sessions must be ended.
  var onEnded: [(TokenRecord) -> Void] = []

  init(_ store: TokenStore, clock: ExpiryClock, logger: Logger) {
    self.store = store
    self.clock = clock
    self.logger = logger
  }

  /// In the order they were added.
  var records: [TokenRecord] { store.tokens }

  /// Makes a token.
  /// - Parameter seconds: its lifetime; nil: until it is revoked.
  /// - Returns: its text, which is not stored anywhere, and its record.
  /// - Throws: `StoreError`; nothing has changed then.
  func add(
    name: String, allow: Permissions, for seconds: Int?, isForRTSP: Bool = false
  ) throws(StoreError) -> (text: String, TokenRecord) {
    // The new token may replace an expired one, whose sessions have to end first.
    endExpired()
    clock.save()
    let now = clock.now
    let end = seconds.map { UnixTime(seconds: now.seconds &+ Int64($0)).date }
    let text = try store.add(name: name, allow: allow, expiresAt: end, isForRTSP: isForRTSP, now: now.date)
    guard let record = store.tokens.last else { preconditionFailure("it was just added, at the end") }
    return (text, record)
  }

  /// What has changed so far is on disk; fails with `StoreError` if it cannot be.
  func stored(on loop: any EventLoop) -> EventLoopFuture<Void> { store.file.written(on: loop) }

  /// The token is on disk.
  func logMade(_ name: String) {
    guard let record = store.tokens.first(where: { $0.name == name }) else { return }
    let allow = record.allow.names.joined(separator: ",")
    logger.notice("token made", metadata: ["name": "\(record.name)", "allow": "\(allow)", "expires": "\(record.end)"])
  }

  /// A token that could not be stored: it was never made.
  func withdraw(_ name: String) { _ = try? store.revoke(name: name) }

  /// The record of a currently valid token; nil for any other text.
  func verify(_ text: String) -> TokenRecord? {
    for date in clock.dates {
      if let record = store.verify(text, now: date.date) { return record }
    }
    return nil
  }

  /// The record of a token that was made for RTSP and may be used now.
  func recordForRTSP(named name: String) -> TokenRecord? {
    store.tokens.first { record in
      record.name == name && record.rtsp != nil && clock.dates.contains { record.isUsable(at: $0.date) }
    }
  }

  /// It was used in another way than by its text.
  func recordUse(of record: TokenRecord) { store.recordUse(id: record.id, now: clock.now.date) }

  /// Why a player with this user was refused, and the token's name where there is or was one.
  func problemOverRTSP(named user: String) -> (name: String?, reason: String) {
    guard let record = store.tokens.first(where: { $0.name == user }) else {
      let wasRemoved = store.removed.contains { $0.name == user }
      return wasRemoved ? (user, "its token was revoked") : (nil, "its user is no token's name")
    }
    guard record.rtsp != nil else { return (user, "its token was made without --rtsp") }
    let isExpired = !clock.dates.contains { record.isUsable(at: $0.date) }
    return (user, isExpired ? "its token has expired" : "its token is wrong")
  }

  /// The name of a token that may not be used now, and why; nil for a text that is and was none.
  func unusable(_ text: String) -> (name: String, reason: String)? {
    guard let (record, isRemoved) = store.record(of: text) else { return nil }
    let wasRevoked = isRemoved && !record.isExpired(at: clock.now.date)
    return (record.name, wasRevoked ? "its token was revoked" : "its token has expired")
  }

  /// What the token with this `TokenRecord.id` currently allows.
  func standing(ofToken id: String) -> Credential.Standing {
    guard let record = store.tokens.first(where: { $0.id == id }) else { return .unknown }
    guard clock.dates.contains(where: { record.isUsable(at: $0.date) }) else { return .expired }
    return .good(record.allow, expiresAt: record.expiresAt.map(UnixTime.init(date:)))
  }

  /// Throws `StoreError`; nothing has changed then. `stored` says whether a restart would bring it back.
  @discardableResult
  func revoke(name: String) throws(StoreError) -> TokenRecord {
    let record = try store.revoke(name: name)
    logger.notice("token revoked", metadata: ["name": "\(record.name)"])
    notifyEnded(record)
    return record
  }

  /// Marks expired tokens and ends their sessions. Call it each second.
  func endExpired() {
    if clock.now >= TrustedClock.earliest { store.correctLastUse(to: clock.now) }
    guard store.tokens.contains(where: { $0.expiresAt != nil && !$0.hasExpired }) else { return }
    clock.saveWhenDue()
    let expired = store.markExpired(at: clock.now, madeSince: clock.firmSince)
    guard !expired.isEmpty else { return }
    clock.save()
    saveUses()
    for record in expired {
      logger.notice("a token's time is over", metadata: ["name": "\(record.name)"])
      notifyEnded(record)
    }
  }

  /// Saves the last use of each token, if that has changed.
  func saveUses() {
    do throws(StoreError) {
      try store.saveUses()
    } catch {
      logger.warning("what was noted of tokens could not be saved", metadata: ["reason": "\(error)"])
    }
  }

  private func notifyEnded(_ record: TokenRecord) {
    for notify in onEnded { notify(record) }
  }
}

extension TokenRecord {
  /// For the log.
  fileprivate var end: String { expiresAt.map { UnixTime(date: $0).text } ?? "never" }
}

extension UnixTime {
  /// RFC 3339, UTC.
  var text: String { date.formatted(.iso8601) }
}
