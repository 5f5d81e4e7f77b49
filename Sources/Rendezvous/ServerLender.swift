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
  private let configuration: RendezvousConfiguration
  private let logger: Logger
  /// Told already, not to repeat it with each client.
  private let problems = Mutex<Set<String>>([])

  init(_ configuration: RendezvousConfiguration, logger: Logger) {
    self.configuration = configuration
    self.logger = logger
  }

  @Sendable func servers(for borrower: RoomBorrower, now: Instant) -> [ICEServerDocument] {
    let isTrusted = configuration.lends(to: borrower.room, knownFor: borrower.hostKnownFor)
    return configuration.iceServers.compactMap { entry in
      // Finding out one's address costs nobody anything.
      guard isTrusted else {
        return ICEServer(urls: entry.urls).bindingOnly?.document
      }
      do throws(ConfiguredValueError) {
        return try entry.server(
          lentTo: borrower.user, timeLeft: borrower.lifetime, clock: MonotonicClock.wallClockReference, now: now,
          hashes: CryptoHashes())?.document
      } catch {
        if problems.withLock({ $0.insert(error.description).inserted }) {
          logger.error("a server of ice-servers cannot be lent", metadata: ["reason": "\(error)"])
        }
        return nil
      }
    }
  }
}
