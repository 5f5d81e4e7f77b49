internal import Glibc
internal import NIOCore
internal import TURN
internal import Wire

/// The ways to one TURN server, for every peer that uses it: one allocation, over the first of the server's addresses that
/// gives one, renewed before its credentials end. Confined to the event loop.
final class RelayGroup {
  enum Event {
    case allocated(Relayed)
    /// The address carries nothing any more.
    case gone(TransportAddress)
    /// No way has led to an allocation; the text is for people. Tried again while somebody uses it.
    case failed(String)
    case received([UInt8], from: TransportAddress, at: TransportAddress)
  }

  /// A relayed address and what its candidate says.
  struct Relayed {
    var address: TransportAddress
    /// Where the server sees us.
    var mapped: TransportAddress
    var preference: UInt16
  }

  /// One way to the server.
  private final class Way {
    let allocation: RelayAllocation
    let index: Int
    var relayed: Relayed?

    init(_ allocation: RelayAllocation, index: Int) {
      self.allocation = allocation
      self.index = index
    }
  }

  private let eventLoop: any EventLoop
  private let now: @Sendable () -> Instant
  private let tls: RelayTLS?
  private let marking: MediaMarking
  private let renewed: () -> ICEServer?
  private let notify: (Event) -> Void
  private var server: ICEServer
  private let urls: [ICEServerURL]
  private(set) var users: Set<PeerID> = []
  /// Allocations, and attempts at one.
  private var ways: [Way] = []
  /// Of the URLs, the next to try.
  private var next = 0
  /// Names that are being looked up.
  private var lookups = 0
  /// Counts allocations, so that a newer one is preferred.
  private var count: UInt16 = 0
  private var isRenewing = false
  private var stepTimer: Scheduled<Void>?
  private var retryTimer: Scheduled<Void>?
  private var backoff = Backoff(first: RelayGroup.firstRetry, longest: RelayGroup.longestRetry)

  /// The way after this one is tried so much later, as with RFC 8305's connections: most networks let UDP through.
  private static let step: TimeAmount = .milliseconds(200)
  private static let firstRetry: Duration = .seconds(1)
  private static let longestRetry: Duration = .seconds(60)
  /// Until the peers have checked the new address, and until nothing is on its way to the old one.
  private static let overlap: TimeAmount = .seconds(5)
  /// A viewer that comes back soon finds the allocation in place.
  private static let idleTime: TimeAmount = .seconds(10)
  /// Allocations that are numbered differently, below the preference that the transport gives.
  private static let numbers: UInt16 = 0x2000

  /// - Parameters:
  ///   - server: with at least one `turn` or `turns` URL and credentials.
  ///   - tls: nil where it could not be set up: `turns` is left out then.
  ///   - renewed: the same server with new credentials.
  init(
    _ server: ICEServer, tls: RelayTLS?, marking: MediaMarking, eventLoop: any EventLoop,
    now: @escaping @Sendable () -> Instant, renewed: @escaping () -> ICEServer?, notify: @escaping (Event) -> Void
  ) {
    self.server = server
    self.tls = tls
    self.marking = marking
    self.eventLoop = eventLoop
    self.now = now
    self.renewed = renewed
    self.notify = notify
    urls = server.urls.filter { $0.turnTransport != nil && (tls != nil || $0.turnTransport != .tls) }
  }

  /// The allocation that is used; nil while there is none.
  var current: Relayed? { ways.compactMap(\.relayed).max { $0.preference < $1.preference } }

  // MARK: Users

  /// - Returns: whether an event will follow: `allocated` or `failed`.
  func use(by peer: PeerID, _ server: ICEServer) -> Bool {
    users.insert(peer)
    guard current == nil else { return false }
    if ways.isEmpty, lookups == 0 {
      self.server = server
      begin()
    }
    return true
  }

  func leave(_ peer: PeerID) {
    guard users.remove(peer) != nil, users.isEmpty else { return }
    later(Self.idleTime) { group in
      if group.users.isEmpty { group.close() }
    }
  }

  func close() {
    stepTimer?.cancel()
    retryTimer?.cancel()
    for way in ways { way.allocation.close() }
  }

  /// Sends through the allocation that has this address. False: there is none.
  func send(_ datagram: [UInt8], from relayed: TransportAddress, to peer: TransportAddress) -> Bool {
    guard let way = ways.first(where: { $0.relayed?.address == relayed }) else { return false }
    way.allocation.send(datagram, to: peer)
    return true
  }

  func transport(of relayed: TransportAddress) -> TURNTransport? {
    ways.first { $0.relayed?.address == relayed }.flatMap { urls[$0.index].turnTransport }
  }

  // MARK: Ways

  private func begin() {
    next = 0
    tryNext()
  }

  private func tryNext() {
    stepTimer?.cancel()
    stepTimer = nil
    guard urls.indices.contains(next) else { return }
    let index = next
    next += 1
    lookups += 1
    let url = urls[index]
    RelayResolver.addresses(of: url, lentBy: server.lender, on: eventLoop).assumeIsolated().whenComplete {
      [weak self] result in
      guard let self else { return }
      lookups -= 1
      switch result {
      case .success(let addresses): open(url, index, addresses)
      case .failure(let error): failed("\(url): \(error)")
      }
    }
    if urls.indices.contains(next) { stepTimer = later(Self.step) { $0.tryNext() } }
  }

  private func open(_ url: ICEServerURL, _ index: Int, _ addresses: [IPAddress]) {
    guard !users.isEmpty, current == nil || isRenewing else { return }
    guard let address = addresses.first, let username = server.username, let password = server.credential,
      let relay = RelayServer(url, address: address, tls: tls)
    else { return failed("\(url): it cannot be used") }
    let expiry = server.expiresAt.map { now() + .seconds($0 - Int64(time(nil))) }
    var made: Way?
    let allocation = RelayAllocation(
      server: relay, credentials: TURNCredentials(username: username, password: password, expiresAt: expiry),
      lender: server.lender, marking: marking, eventLoop: eventLoop, now: now
    ) { [weak self] event in
      guard let self, let way = made else { return }
      handle(event, of: way, url)
      if case .ended = event { made = nil }
    }
    let way = Way(allocation, index: index)
    made = way
    ways.append(way)
    allocation.open()
  }

  private func handle(_ event: RelayAllocation.Event, of way: Way, _ url: ICEServerURL) {
    switch event {
    case .allocated(let address, let mapped):
      allocated(address, mapped, by: way)
    case .received(let datagram, let peer):
      guard let relayed = way.relayed?.address else { return }
      notify(.received(datagram, from: peer, at: relayed))
    case .peerRefused:
      // Private addresses, mostly: a server relays to none, and another pair is found.
      break
    case .renewalDue:
      renew()
    case .ended(let failure):
      ways.removeAll { $0 === way }
      if let relayed = way.relayed {
        notify(.gone(relayed.address))
        if case .closed = failure { return }
        if current == nil { retry() }
      } else if failure != .closed {
        failed("\(url): \(failure)")
      }
    }
  }

  private func allocated(_ address: TransportAddress, _ mapped: TransportAddress, by way: Way) {
    let old = ways.filter { $0 !== way && $0.relayed != nil }
    guard old.isEmpty || isRenewing else { return way.allocation.close() }
    stepTimer?.cancel()
    backoff.reset()
    isRenewing = false
    count = (count + 1) % Self.numbers
    // UDP before TCP before TLS, as the server's owner has written them.
    let rank = UInt16(clamping: 3 - min(3, way.index))
    way.relayed = Relayed(address: address, mapped: mapped, preference: rank * Self.numbers + count)
    // Attempts that are no longer needed.
    for other in ways where other.relayed == nil { other.allocation.close() }
    if let relayed = way.relayed { notify(.allocated(relayed)) }
    // What the old ones carry moves over: first nothing is sent from them, then nothing comes.
    for old in old {
      guard let address = old.relayed?.address else { continue }
      later(Self.overlap) { group in
        group.notify(.gone(address))
        group.later(Self.overlap) { _ in old.allocation.close() }
      }
    }
  }

  private func renew() {
    guard !users.isEmpty, let old = server.expiresAt else { return }
    guard let fresh = renewed(), let expiry = fresh.expiresAt, expiry > old else {
      // Half of what is left, and again, until the allocation ends.
      let rest = old - Int64(time(nil))
      if rest > 0 { later(.seconds(max(1, rest / 2))) { $0.renew() } }
      return
    }
    server = fresh
    replace()
  }

  /// Makes another allocation in place of the current one, as from another address of this machine.
  func replace() {
    guard !users.isEmpty, current != nil, !isRenewing else { return }
    isRenewing = true
    begin()
  }

  /// One way has led nowhere; the next is tried at once.
  private func failed(_ reason: String) {
    guard current == nil || isRenewing else { return }
    if urls.indices.contains(next) { return tryNext() }
    guard lookups == 0, !ways.contains(where: { $0.relayed == nil }) else { return }
    notify(.failed(reason))
    retry()
  }

  private func retry() {
    guard !users.isEmpty, retryTimer == nil else { return }
    // ±20 %, so that all of a server's users do not come back at once.
    let nanoseconds = backoff.nextDelay().nanoseconds
    let jitter = Int64.random(in: -nanoseconds / 5...nanoseconds / 5)
    retryTimer = later(.nanoseconds(nanoseconds + jitter)) { group in
      group.retryTimer = nil
      guard !group.users.isEmpty, group.current == nil || group.isRenewing else { return }
      group.server = group.renewed() ?? group.server
      group.begin()
    }
  }

  @discardableResult
  private func later(_ delay: TimeAmount, _ body: @escaping (RelayGroup) -> Void) -> Scheduled<Void> {
    eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
      if let self { body(self) }
    }
  }
}
