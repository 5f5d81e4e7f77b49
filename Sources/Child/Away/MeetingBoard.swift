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
    let configured: ChildConfiguration.Meeting
    /// Nil while the child's password cannot be read.
    var host: MeetingHost?
    var standing: Standing = .connecting
    /// What the place lends us.
    var servers: [ICEServer] = []
  }

  private let child: String
  private let loop: any EventLoop
  private let logger: Logger
  private let prove: (_ server: String, _ challenge: String) -> String
  private var entries: [Entry]
  private var presence: () -> (statement: String, renewal: Instant)? = { nil }
  private var receive: (RoomDelivery) -> Void = { _ in }
  /// Told already, not to repeat it with each parent.
  private var problems: Set<String> = []
  private lazy var renewal = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in self?.announce() }
  private lazy var anotherTry = DeadlineTimer(on: loop, now: { MonotonicClock.now }) { [weak self] in self?.enter() }

  /// A connection's process is given up after four seconds.
  private static let farewellLimit: TimeAmount = .seconds(5)
  /// When a password is tried to be read again.
  private static let patience: Duration = .seconds(60)

  /// - Parameter prove: signs the proof for a server's name and challenge.
  init(
    _ configuration: ChildConfiguration, child: String, loop: any EventLoop, logger: Logger,
    prove: @escaping (_ server: String, _ challenge: String) -> String
  ) {
    self.child = child
    self.loop = loop
    self.logger = logger
    self.prove = prove
    entries = configuration.away.meetings.map { Entry(configured: $0) }
  }

  /// What parents receive. Reads the files of their passwords; a place whose password cannot be read is left out.
  ///
  /// - Parameter includingAccounts: also places where parents need an account, whose password nobody takes back from them.
  func documents(includingAccounts: Bool) -> [MeetingDocument] {
    entries.compactMap { entry in
      guard includingAccounts || !entry.configured.needsAccount else { return nil }
      do throws(ConfiguredValueError) {
        return try MeetingPlace(entry.configured, access: entry.configured.parents ?? entry.configured.access).document
      } catch {
        report(error, entry.configured, "parents are not told of a meeting place")
        return nil
      }
    }
  }

  /// STUN and TURN servers that the places lend, with credentials for us.
  var lentServers: [ICEServer] { entries.flatMap(\.servers) }

  /// The places and how it is there.
  var standings: [(place: String, kind: String, standing: Standing)] {
    entries.map { ($0.configured.url, $0.configured.kindName, $0.standing) }
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
    self.receive = receive
    enter()
  }

  func send(to client: String, at place: MeetingPlaceID, message: String) {
    host(place)?.send(to: client, message: message)
  }

  /// - Parameter lifetime: see `MeetingHost.vouch`.
  func vouch(for client: String, at place: MeetingPlaceID, lifetime: Duration?) {
    host(place)?.vouch(for: client, lifetime: lifetime)
  }

  func dismiss(_ client: String, at place: MeetingPlaceID, reason: String) {
    host(place)?.dismiss(client, reason: reason)
  }

  /// Addresses of this machine have come or gone.
  func addressesChanged(_ own: Set<IPAddress>) {
    for entry in entries { entry.host?.addressesChanged(own) }
  }

  /// Whether the places still reach us has become doubtful.
  func verify() {
    for entry in entries { entry.host?.verify() }
  }

  /// Leaves all places. What is returned is done when each has been notified, or cannot be: the event loop has to run until then.
  func close() -> EventLoopFuture<Void> {
    renewal.cancel()
    anotherTry.cancel()
    let all = entries.compactMap(\.host).map { host in
      let promise = loop.makePromise(of: Void.self)
      host.close { promise.succeed() }
      loop.scheduleTask(in: Self.farewellLimit) { promise.succeed() }
      return promise.futureResult
    }
    entries = []
    return .andAllSucceed(all, on: loop)
  }

  private func host(_ place: MeetingPlaceID) -> MeetingHost? {
    entries.indices.contains(place.number) ? entries[place.number].host : nil
  }

  /// Goes to the places where we are not yet.
  private func enter() {
    guard !entries.isEmpty, let (statement, due) = presence() else { return }
    renewal.set(due)
    for (number, entry) in entries.enumerated() where entry.host == nil {
      do throws(ConfiguredValueError) {
        let place = try MeetingPlace(entry.configured, access: entry.configured.access)
        let host = place.host(child: child, eventLoop: loop, prove: prove)
        entries[number].host = host
        entries[number].standing = .connecting
        host.onEvent = { [weak self] event in self?.handle(event, of: number) }
        host.open(presence: statement)
      } catch {
        entries[number].standing = .absent(reason: "\(error)")
        report(error, entry.configured, "not at a meeting place")
        anotherTry.set(MonotonicClock.now + Self.patience)
      }
    }
  }

  private func announce() {
    guard let (statement, due) = presence() else { return }
    for entry in entries { entry.host?.announce(presence: statement) }
    renewal.set(due)
  }

  private func report(_ error: ConfiguredValueError, _ configured: ChildConfiguration.Meeting, _ what: Logger.Message) {
    guard problems.insert("\(what) \(configured.url) \(error)").inserted else { return }
    logger.error(what, metadata: ["place": "\(configured.url)", "reason": "\(error)"])
  }

  private func handle(_ event: MeetingHostEvent, of number: Int) {
    guard entries.indices.contains(number) else { return }
    let place = entries[number].configured.url
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
    case .iceServers(let servers, let address):
      entries[number].servers = servers.compactMap { ICEServer($0, lender: LendingPlace(address: address)) }
    }
  }
}

extension MeetingPlace {
  /// - Parameter access: whose credentials it has. Reads the file with the password.
  init(
    _ configured: ChildConfiguration.Meeting, access: ChildConfiguration.Meeting.Access?
  ) throws(ConfiguredValueError) {
    switch configured.kind {
    case .rendezvous(let url, let key):
      self = .rendezvous(RendezvousPlace(url: url, keySHA256: key))
    case .mqtt(let url, let topic, let authorities):
      self = .mqtt(
        MQTTPlace(
          url: url, username: access?.username, password: try access?.password?.read(), topic: topic,
          authorities: authorities))
    case .xmpp(let child, let host, let port, let authorities):
      let account = access.flatMap { AccountAddress($0.username) } ?? child
      self = .xmpp(
        XMPPPlace(
          account: account, password: try access?.password?.read() ?? "", child: child,
          parents: configured.parents.flatMap { AccountAddress($0.username) }, host: host, port: port,
          authorities: authorities))
    }
  }
}

extension ChildConfiguration.Meeting {
  /// For logs and people: without credentials.
  var url: String {
    switch kind {
    case .rendezvous(let url, _), .mqtt(let url, _, _): url
    case .xmpp(let account, _, _, _): "xmpp:\(account)"
    }
  }

  /// Whoever receives it gets a password.
  fileprivate var needsAccount: Bool {
    switch kind {
    case .rendezvous: false
    case .mqtt: (parents ?? access) != nil
    case .xmpp: true
    }
  }

  /// As in `MeetingDocument`.
  fileprivate var kindName: String {
    switch kind {
    case .rendezvous: "rendezvous"
    case .mqtt: "mqtt"
    case .xmpp: "xmpp"
    }
  }
}
