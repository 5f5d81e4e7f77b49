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

  /// Refusals that are the same but for their words.
  private struct Key: Hashable, Sendable {
    var address: String
    var token: String?
    var status: Int
    /// Empty where the client has a part in the words.
    var reason: String

    init(_ refusal: Refusal) {
      (address, token, status) = (refusal.address, refusal.token, refusal.status)
      reason = [401, 404, 429, 503].contains(status) ? refusal.reason : ""
    }
  }

  private struct Entry {
    var refusal: Refusal
    var count: Int
    var firstAt: Instant
    var lastAt: Instant
  }

  /// Of those with a token's name, and of those without one.
  static let maximum = 16
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
    let key = Key(refusal)
    if var entry = entries[key] {
      entry.refusal = refusal
      entry.count += 1
      entry.lastAt = now
      entries[key] = entry
    } else {
      makeRoom(beside: key)
      entries[key] = Entry(refusal: refusal, count: 1, firstAt: now, lastAt: now)
    }
    guard let times = (key.token == nil ? strangers : holders).count(key, now: now) else { return }
    var metadata: Logger.Metadata = [
      "address": "\(refusal.address)", "status": "\(refusal.status)", "reason": "\(refusal.reason)",
    ]
    if let token = refusal.token { metadata["token"] = "\(token)" }
    if times > 1 { metadata["times"] = "\(times)" }
    logger.notice("a player was refused", metadata: metadata)
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
