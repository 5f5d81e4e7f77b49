internal import Frames
internal import Logging
internal import SecureTransport
internal import Signaling
internal import Storage
internal import Synchronization
internal import TURN
internal import Wire

/// The STUN and TURN servers of the configuration, with credentials for whoever uses them.
final class ServerLender: Sendable {
  private let entries: [ChildConfiguration.ICEServerEntry]
  private let logger: Logger
  /// Told already, not to repeat it with each client.
  private let problems = Mutex<Set<String>>([])

  init(_ entries: [ChildConfiguration.ICEServerEntry], logger: Logger) {
    self.entries = entries
    self.logger = logger
  }

  /// - Parameter user: the child's id, or the name of a room's client, which is random.
  @Sendable func servers(for user: String, now: Instant) -> [RoomICEServer] {
    entries.compactMap { entry in
      do throws(ConfiguredValueError) {
        let server = try entry.server(
          for: user, lifetime: entry.lifetime, clock: MonotonicClock.wallClockReference, now: now,
          hashes: CryptoHashes())
        return RoomICEServer(
          urls: server.urls.map(\.description), username: server.username, credential: server.credential)
      } catch {
        if problems.withLock({ $0.insert(error.description).inserted }) {
          logger.error("a server of ice-servers cannot be lent", metadata: ["reason": "\(error)"])
        }
        return nil
      }
    }
  }
}
