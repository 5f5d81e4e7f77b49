internal import FoundationEssentials
internal import Frames
internal import Logging
internal import Wire

/// Players whose requests were refused, for the log and for `status`: most players show nobody why.
///
/// Bounded, whoever asks: strangers fill no place of those who hold a token, and no log. `@unchecked Sendable` because it is
/// confined to the event loop.
final class RefusedPlayers: @unchecked Sendable {
  struct Refusal: Hashable, Sendable {
    /// Of the client.
    var address: String
    /// Name of the token, where it is or was one of ours.
    var token: String?
    /// Of HTTP.
    var status: Int
    /// For a person; nothing secret.
    var reason: String
  }

  /// Refusals that are the same.
  private struct Key: Hashable, Sendable {
    var address: String
    var token: String?
    var status: Int
    /// Nil: all that found no place of their own.
    var reason: String?
  }

  private struct Entry {
    var refusal: Refusal
    var count: Int
    var firstAt: Instant
    var lastAt: Instant
  }

  /// Of those with a token's name, and of those without one.
  static let maximum = 16
  /// Of one address, token and status: a player may have a part in the words.
  static let maximumReasons = 3
  private static let maximumReason = 200
  private static let logInterval: Duration = .seconds(600)
  private static let forgottenAfter: Duration = .seconds(86_400)

  private let logger: Logger
  private var entries: [Key: Entry] = [:]
  private let holders = LogCounts<Key>(interval: RefusedPlayers.logInterval, maximum: RefusedPlayers.maximum)
  private let strangers = LogCounts<Key>(interval: RefusedPlayers.logInterval, maximum: RefusedPlayers.maximum)

  init(logger: Logger) {
    self.logger = logger
  }

  func record(_ refusal: Refusal, now: Instant = MonotonicClock.now) {
    var refusal = refusal
    refusal.reason = String(String.UnicodeScalarView(refusal.reason.unicodeScalars.prefix(Self.maximumReason)))
    let key = key(of: refusal)
    if var entry = entries[key] {
      entry.refusal = refusal
      entry.count += 1
      entry.lastAt = now
      entries[key] = entry
    } else {
      makeRoom(beside: key)
      entries[key] = Entry(refusal: refusal, count: 1, firstAt: now, lastAt: now)
    }
    if let times = (key.token == nil ? strangers : holders).count(key, now: now) { log(refusal, times) }
  }

  private func key(of refusal: Refusal) -> Key {
    var key = Key(address: refusal.address, token: refusal.token, status: refusal.status, reason: refusal.reason)
    let alike = entries.keys.filter { other in
      (other.address, other.token, other.status) == (key.address, key.token, key.status) && other.reason != nil
    }
    if alike.count >= Self.maximumReasons, !alike.contains(key) { key.reason = nil }
    return key
  }

  private func log(_ refusal: Refusal, _ times: Int) {
    var metadata: Logger.Metadata = [
      "address": "\(refusal.address)", "status": "\(refusal.status)", "reason": "\(refusal.reason)",
    ]
    if let token = refusal.token { metadata["token"] = "\(token)" }
    if times > 1 { metadata["times"] = "\(times)" }
    logger.notice("a player was refused", metadata: metadata)
  }

  /// Logs what has come again since its line ten minutes ago, and how many found no line of their own. Call it each second.
  func logRepeats(now: Instant = MonotonicClock.now) {
    for counts in [holders, strangers] {
      for (key, times) in counts.takeRepeats(now: now) {
        let reason = key.reason ?? entries[key]?.refusal.reason ?? "several reasons"
        log(Refusal(address: key.address, token: key.token, status: key.status, reason: reason), times)
      }
      let others = counts.takeOthers(now: now)
      if others > 0 { logger.notice("other players were refused", metadata: ["times": "\(others)"]) }
    }
  }

  /// The one whose last refusal is the oldest gives its place to the next of its kind.
  private func makeRoom(beside key: Key) {
    let alike = entries.filter { ($0.key.token == nil) == (key.token == nil) }
    guard alike.count >= Self.maximum, let oldest = alike.min(by: { $0.value.lastAt < $1.value.lastAt }) else { return }
    entries[oldest.key] = nil
  }

  /// Those of the last day, the latest first.
  func report(now: Instant = MonotonicClock.now, date: Date = Date()) -> [StatusReport.Refused] {
    func moment(_ instant: Instant) -> Date { date.addingTimeInterval(-(now - instant).inSeconds) }
    return entries.values.filter { now - $0.lastAt < Self.forgottenAfter }.sorted { $0.lastAt > $1.lastAt }.map {
      entry in
      StatusReport.Refused(
        address: entry.refusal.address, token: entry.refusal.token, status: entry.refusal.status,
        reason: entry.refusal.reason, count: entry.count, firstAt: moment(entry.firstAt), lastAt: moment(entry.lastAt))
    }
  }
}
