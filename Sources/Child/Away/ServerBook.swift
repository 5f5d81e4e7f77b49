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
  func own() -> [ICEServer] { servers(for: "child", longest: Self.ownLifetime) }

  /// For a parent or a player.
  ///
  /// - Parameter name: stands in the server's log; no secret, and no person's name.
  func servers(for name: String) -> [ICEServer] { servers(for: name, longest: nil) }

  /// How often parents are told new credentials while they are connected; nil: there is nothing that ends.
  var renewalInterval: Duration? {
    let lifetimes = entries.compactMap { entry in
      if case .secret = entry.access { entry.lifetime } else { nil }
    }
    return lifetimes.min().map { min($0 / 3, .seconds(3600)) }
  }

  private func servers(for name: String, longest: Duration?) -> [ICEServer] {
    entries.compactMap { entry in
      // Files are read each time, so that a secret can be replaced while the child runs.
      do throws(ConfiguredValueError) {
        return try server(entry, name, min(entry.lifetime, longest ?? entry.lifetime))
      } catch {
        if problems.insert(error.description).inserted {
          logger.error("a server of ice-servers cannot be used", metadata: ["reason": "\(error)"])
        }
        return nil
      }
    }
  }

  private func server(
    _ entry: ChildConfiguration.ICEServerEntry, _ name: String, _ lifetime: Duration
  ) throws(ConfiguredValueError) -> ICEServer? {
    // Without credentials: TURN servers answer Binding requests, too.
    guard away.relay != .never else { return ICEServer(urls: entry.urls).bindingOnly }
    switch entry.access {
    case .everybody:
      return ICEServer(urls: entry.urls)
    case .password(let username, let credential):
      return ICEServer(urls: entry.urls, username: username, credential: try credential.read())
    case .secret(let secret):
      let credentials = TURNCredentials(
        sharedSecret: Array(try secret.read().utf8), name: name, lifetime: lifetime,
        clock: MonotonicClock.wallClockReference, now: MonotonicClock.now, hashes: CryptoHashes())
      return ICEServer(urls: entry.urls, username: credentials.username, credential: credentials.password)
    }
  }
}
