internal import Control
internal import Frames
internal import Logging
internal import Meeting
internal import NIOCore
internal import Server
internal import Signaling
internal import Storage
internal import TURN
internal import Wire

/// The meeting places of `away.meetings`: the child is present at each of them, whatever becomes of the others.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class MeetingBoard: @unchecked Sendable {
  /// How it is at one place, for `status` and `away`.
  enum Standing: Sendable, Hashable {
    case connecting
    case present(since: Instant)
    /// For a person.
    case absent(reason: String)
  }

  private struct Entry {
    let place: MeetingPlace
    let host: any MeetingHost
    /// What parents are told.
    let document: MeetingDocument
    var standing: Standing = .connecting
    /// What the place lends us.
    var servers: [ICEServer] = []
  }

  private let loop: any EventLoop
  private let logger: Logger
  private var entries: [Entry] = []
  private var presence: () -> (statement: String, renewal: Instant)? = { nil }
  private lazy var renewal = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in self?.announce() }

  /// - Parameter prove: signs the proof for a server's name and challenge.
  init(
    _ configuration: ChildConfiguration, child: String, loop: any EventLoop, logger: Logger,
    prove: @escaping (_ server: String, _ challenge: String) -> String
  ) {
    self.loop = loop
    self.logger = logger
    for meeting in configuration.away.meetings {
      let place = MeetingPlace(meeting)
      entries.append(
        Entry(
          place: place, host: place.host(child: child, eventLoop: loop, prove: prove), document: place.document))
    }
  }

  /// What parents are told.
  var documents: [MeetingDocument] { entries.map(\.document) }

  /// STUN and TURN servers that the places lend, with credentials for us.
  var lentServers: [ICEServer] { entries.flatMap(\.servers) }

  /// The places and how it is there.
  var standings: [(place: String, kind: String, standing: Standing)] {
    entries.map { ("\($0.place)", $0.document.kind, $0.standing) }
  }

  /// Goes to all places.
  ///
  /// - Parameters:
  ///   - presence: the signed presence, and when a newer one is due.
  ///   - receive: called on the event loop with what parents leave there.
  func open(
    presence: @escaping () -> (statement: String, renewal: Instant)?, receive: @escaping (RoomDelivery) -> Void
  ) {
    loop.preconditionInEventLoop()
    self.presence = presence
    guard !entries.isEmpty, let (statement, due) = presence() else { return }
    for (number, entry) in entries.enumerated() {
      entry.host.onEvent = { [weak self] event in self?.handle(event, of: number, receive) }
      entry.host.open(presence: statement)
    }
    renewal.set(due)
  }

  func send(to client: String, at place: MeetingPlaceID, message: String) {
    host(place)?.send(to: client, message: message)
  }

  func vouch(for client: String, at place: MeetingPlaceID) {
    host(place)?.vouch(for: client)
  }

  func dismiss(_ client: String, at place: MeetingPlaceID, reason: String) {
    host(place)?.dismiss(client, reason: reason)
  }

  /// Addresses of this machine have come or gone.
  func addressesChanged(_ own: Set<IPAddress>) {
    for entry in entries { entry.host.addressesChanged(own) }
  }

  /// Leaves all places.
  func close() {
    renewal.cancel()
    for entry in entries { entry.host.close {} }
    entries = []
  }

  private func host(_ place: MeetingPlaceID) -> (any MeetingHost)? {
    entries.indices.contains(place.number) ? entries[place.number].host : nil
  }

  private func announce() {
    guard let (statement, due) = presence() else { return }
    for entry in entries { entry.host.announce(presence: statement) }
    renewal.set(due)
  }

  private func handle(_ event: MeetingHostEvent, of number: Int, _ receive: (RoomDelivery) -> Void) {
    guard entries.indices.contains(number) else { return }
    let place = "\(entries[number].place)"
    switch event {
    case .present:
      entries[number].standing = .present(since: MonotonicClock.now)
      logger.info("present at a meeting place", metadata: ["place": "\(place)"])
    case .absent(let reason):
      let before = entries[number].standing
      entries[number].standing = .absent(reason: reason)
      // Each further try says the same.
      if before != entries[number].standing {
        logger.warning("not at a meeting place", metadata: ["place": "\(place)", "reason": "\(reason)"])
      }
    case .message(let client, let message):
      receive(RoomDelivery(from: client, message: message, place: MeetingPlaceID(number: number)))
    case .iceServers(let servers):
      entries[number].servers = servers.compactMap { server in
        let urls = server.urls.compactMap(ICEServerURL.init)
        return urls.isEmpty ? nil : ICEServer(urls: urls, username: server.username, credential: server.credential)
      }
    }
  }
}

extension MeetingPlace {
  /// As the child uses it.
  init(_ configured: ChildConfiguration.Meeting) {
    switch configured.kind {
    case .rendezvous(let url, let key): self = .rendezvous(RendezvousPlace(url: url, keySHA256: key))
    }
  }
}
