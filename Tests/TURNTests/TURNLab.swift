import TURN
import TestSupport
import Wire

/// A client and a fake server with 10 ms between them, in fake time.
struct TURNLab {
  static let peer = TransportAddress(ip: .v4(0xc633_6401), port: 6000)
  static let credentials = TURNCredentials(username: "alice", password: "secret")

  var client: TURNClient
  var server = FakeTURNServer()
  private(set) var now = Instant.zero
  /// Whether what the client sends is lost.
  var isLost: ([UInt8], Instant) -> Bool = { _, _ in false }
  private(set) var received: [(payload: [UInt8], from: TransportAddress)] = []
  private(set) var refused: [(peer: TransportAddress, code: Int)] = []
  private(set) var relayed: TransportAddress?
  private(set) var mapped: TransportAddress?
  private(set) var end: TURNFailure?
  private(set) var renewals: [Instant] = []
  private(set) var sent: [[UInt8]] = []
  private var toServer: [(at: Instant, bytes: [UInt8])] = []
  private var toClient: [(at: Instant, bytes: [UInt8])] = []
  private static let delay: Duration = .milliseconds(10)

  static func configuration(
    credentials: TURNCredentials = TURNLab.credentials, transport: TURNTransport = .udp, wantsIPv6: Bool = false
  ) -> TURNClientConfiguration {
    TURNClientConfiguration(
      server: TURNServer(address: FakeTURNServer.address, transport: transport), credentials: credentials,
      wantsIPv6: wantsIPv6)
  }

  init(_ configuration: TURNClientConfiguration = TURNLab.configuration(), seed: UInt64 = 1) {
    client = TURNClient(configuration: configuration, hashes: TestHashes(), random: SeededGenerator(seed: seed))
    server.isStream = configuration.server.transport.isStream
  }

  /// With an allocation.
  static func allocated(_ configuration: TURNClientConfiguration = TURNLab.configuration()) -> TURNLab {
    var lab = TURNLab(configuration)
    lab.client.allocate(now: lab.now)
    lab.run(for: .seconds(1))
    return lab
  }

  private mutating func collect() {
    while let output = client.poll() {
      switch output {
      case .transmit(let bytes):
        sent.append(bytes)
        if !isLost(bytes, now) { toServer.append((now + Self.delay, bytes)) }
      case .allocated(let relayed, let mapped): (self.relayed, self.mapped) = (relayed, mapped)
      case .received(let payload, let peer): received.append((payload, peer))
      case .peerRefused(let peer, let code): refused.append((peer, code))
      case .renewalDue: renewals.append(now)
      case .ended(let failure): end = failure
      }
    }
  }

  mutating func run(for duration: Duration) {
    let until = now + duration
    collect()
    while true {
      var next = client.nextDeadline
      next.bringForward(to: toServer.first?.at)
      next.bringForward(to: toClient.first?.at)
      guard let next, next <= until else { break }
      now = max(now, next)
      while let first = toServer.first, first.at <= now {
        toServer.removeFirst()
        for answer in server.handle(first.bytes, now: now) { toClient.append((now + Self.delay, answer)) }
      }
      while let first = toClient.first, first.at <= now {
        toClient.removeFirst()
        client.handle(first.bytes, now: now)
        collect()
      }
      client.handleTimeout(now: now)
      collect()
    }
    now = until
  }

  /// A peer's datagram, as far as the server lets it through.
  mutating func peerSends(_ payload: [UInt8], from peer: TransportAddress = TURNLab.peer) {
    if let bytes = server.relay(payload, from: peer, now: now) { toClient.append((now + Self.delay, bytes)) }
  }

  /// From the server's address, whatever it is.
  mutating func inject(_ bytes: [UInt8]) {
    client.handle(bytes, now: now)
    collect()
  }

  mutating func send(_ payload: [UInt8], to peer: TransportAddress = TURNLab.peer) {
    client.send(payload, to: peer, now: now)
    collect()
  }
}
