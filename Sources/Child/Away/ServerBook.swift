internal import Frames
internal import Logging
internal import SecureTransport
internal import Storage
internal import TURN
internal import Wire

/// The STUN and TURN servers of `ice-servers`, with credentials for whoever uses them.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class ServerBook: @unchecked Sendable {
  private let entries: [ChildConfiguration.ICEServerEntry]
  let away: ChildConfiguration.Away
  private let logger: Logger
  /// What the meeting places lend the child, with credentials for it.
  var lent: () -> [ICEServer] = { [] }
  /// Told already, not to repeat it with each viewer.
  private var problems: Set<String> = []

  /// The child makes new ones whenever it needs them.
  private static let ownLifetime: Duration = .seconds(86_400)

  init(_ configuration: ChildConfiguration, logger: Logger) {
    entries = configuration.iceServers
    away = configuration.away
    self.logger = logger
  }

  /// For the child itself.
  func own() -> [ICEServer] {
    let lent = lent()
    let servers = servers { (entry, clock, now) throws(ConfiguredValueError) in
      try entry.server(for: "child", lifetime: Self.ownLifetime, clock: clock, now: now, hashes: CryptoHashes())
    }
    return servers + (away.relay == .never ? lent.compactMap(\.bindingOnly) : lent)
  }

  /// For a parent or a player.
  ///
  /// - Parameters:
  ///   - name: stands in the server's log; no secret, and no person's name.
  ///   - timeLeft: of the viewer's own credential; nil: it does not expire.
  func servers(for name: String, timeLeft: Duration?) -> [ICEServer] {
    servers { (entry, clock, now) throws(ConfiguredValueError) in
      try entry.server(lentTo: name, timeLeft: timeLeft, clock: clock, now: now, hashes: CryptoHashes())
    }
  }

  /// How often connected parents get new credentials; nil: credentials don't expire.
  var renewalInterval: Duration? {
    let lifetimes = entries.compactMap { entry in
      if case .secret = entry.access { entry.lifetime } else { nil }
    }
    return lifetimes.min().map { min($0 / 3, .seconds(3600)) }
  }

  private func servers(
    _ server: (ChildConfiguration.ICEServerEntry, WallClockReference, Instant) throws(ConfiguredValueError) ->
      ICEServer?
  ) -> [ICEServer] {
    entries.compactMap { entry in
      do throws(ConfiguredValueError) {
        // Without credentials: TURN servers answer Binding requests, too.
        guard away.relay != .never else { return ICEServer(urls: entry.urls).bindingOnly }
        return try server(entry, MonotonicClock.wallClockReference, MonotonicClock.now)
      } catch {
        if problems.insert(error.description).inserted {
          logger.error("a server of ice-servers cannot be used", metadata: ["reason": "\(error)"])
        }
        return nil
      }
    }
  }
}
