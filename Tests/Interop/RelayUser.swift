import NIOCore
import NIOPosix
import SecureTransport
import Server
import Synchronization
import TURN
import Wire

/// An allocation at a real server, with what has come of it.
final class RelayUser: Sendable {
  struct Timeout: Error {}

  private struct Seen: Sendable {
    var relayed: TransportAddress?
    var received: [(payload: [UInt8], from: TransportAddress)] = []
    var refused: [(peer: TransportAddress, code: Int)] = []
    var end: TURNFailure?
    var isRenewalDue = false
  }

  private let loop = MultiThreadedEventLoopGroup.singleton.next()
  private let allocation: RelayAllocation
  private let seen = Mutex(Seen())
  private let echoes: Mutex<Bool>

  static let clock = ContinuousClock.now
  /// The monotonic clock of the tests.
  static var now: Instant { Instant.zero + (ContinuousClock.now - clock) }

  /// - Parameter echoes: sends everything back to where it came from.
  init(
    _ server: RelayServer, _ credentials: TURNCredentials, wantsIPv6: Bool = false, echoes: Bool = false
  ) async throws {
    self.echoes = Mutex(echoes)
    let (loop, box) = (loop, Box())
    allocation = try await loop.submit {
      RelayAllocation(
        server: server, credentials: credentials, wantsIPv6: wantsIPv6, eventLoop: loop, now: { RelayUser.now }
      ) { event in box.user?.see(event) }
    }.get()
    box.user = self
    try await loop.submit { [allocation] in allocation.open() }.get()
  }

  private final class Box: @unchecked Sendable {
    // Written before the allocation is opened; read on its loop.
    weak var user: RelayUser?
  }

  private func see(_ event: RelayAllocation.Event) {
    switch event {
    case .allocated(let relayed, _): seen.withLock { $0.relayed = relayed }
    case .received(let payload, let peer):
      if echoes.withLock({ $0 }) { allocation.send(payload, to: peer) }
      seen.withLock { $0.received.append((payload, peer)) }
    case .peerRefused(let peer, let code): seen.withLock { $0.refused.append((peer, code)) }
    case .renewalDue: seen.withLock { $0.isRenewalDue = true }
    case .ended(let failure): seen.withLock { $0.end = failure }
    }
  }

  private func wait<Value>(_ value: (borrowing Seen) -> Value?) async throws -> Value {
    for _ in 0..<3000 {
      if let value = seen.withLock({ value($0) }) { return value }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw Timeout()
  }

  // MARK: - For tests

  /// The relayed address, or how it ended instead.
  func outcome() async throws -> Result<TransportAddress, TURNFailure> {
    try await wait { seen in seen.end.map { .failure($0) } ?? seen.relayed.map { .success($0) } }
  }

  func end() async throws -> TURNFailure { try await wait { $0.end } }

  func received(count: Int) async throws -> [(payload: [UInt8], from: TransportAddress)] {
    try await wait { $0.received.count >= count ? $0.received : nil }
  }

  func refusals() async throws -> [(peer: TransportAddress, code: Int)] {
    try await wait { $0.refused.isEmpty ? nil : $0.refused }
  }

  func renewalDue() async throws { try await wait { $0.isRenewalDue ? () : nil } }

  func permit(_ peer: TransportAddress) async throws {
    try await loop.submit { [allocation] in allocation.permit(peer) }.get()
  }

  func send(_ payloads: [[UInt8]], to peer: TransportAddress) async throws {
    try await loop.submit { [allocation] in
      for payload in payloads { allocation.send(payload, to: peer) }
    }.get()
  }

  func close() async throws -> TURNFailure {
    try await loop.submit { [allocation] in allocation.close() }.get()
    return try await end()
  }
}
