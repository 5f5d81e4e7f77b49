internal import Linux
internal import Synchronization
public import Wire

/// Resolves the mDNS names that browsers use in ICE candidates instead of their addresses: a UUID in ".local".
/// draft-ietf-mmusic-mdns-ice-candidates section 3.
///
/// Uses one thread, which runs only while there are names to resolve. Limits the number of names and the time, because
/// any viewer can send names.
public final class HostResolver: Sendable {
  private let state = Mutex(State())
  private let wake = EventDescriptor()

  private struct State {
    var requests: [Request] = []
    var isRunning = false
  }

  fileprivate struct Request: Sendable {
    var name: String
    var found: @Sendable (IPAddress) -> Void
  }

  /// Further ones are dropped.
  static let maximumWaiting = 32

  public init() {}

  /// Looks up `name` for at most five seconds. Ignores names of any other form, and names that exceed the queue's
  /// limit.
  ///
  /// - Parameter found: called on another thread, once per address; not called if there is none.
  public func resolve(_ name: String, found: @escaping @Sendable (IPAddress) -> Void) {
    guard Self.isHiddenAddress(name) else { return }
    let begins = state.withLock { state -> Bool in
      guard state.requests.count < Self.maximumWaiting else { return false }
      state.requests.append(Request(name: name, found: found))
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if begins {
      _ = WorkerThread(name: "dns-sd-resolve") { [self] in
        var run = ResolverRun()
        while run.turn(taking: take, wake: wake) {}
      }
    } else {
      wake.raise()
    }
  }

  /// Up to `count` requests; nil if there are none and `isIdle`, in which case the thread has to end.
  private func take(_ count: Int, isIdle: Bool) -> [Request]? {
    state.withLock { state in
      if isIdle, state.requests.isEmpty {
        state.isRunning = false
        return nil
      }
      let taken = Array(state.requests.prefix(count))
      state.requests.removeFirst(taken.count)
      return taken
    }
  }

  /// A UUID (RFC 9562 section 4) and ".local", in any case.
  static func isHiddenAddress(_ name: String) -> Bool {
    let name = Array(name.lowercased().utf8)
    guard name.count == 42, name.suffix(6).elementsEqual(".local".utf8) else { return false }
    return name.prefix(36).enumerated().allSatisfy { index, byte in
      if [8, 13, 18, 23].contains(index) { return byte == UInt8(ascii: "-") }
      return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
  }
}

/// The queries of the resolver's thread.
private struct ResolverRun {
  private final class Query {
    let request: HostResolver.Request
    let references: [ServiceReference]
    var deadline: ContinuousClock.Instant
    var addresses: Set<IPAddress> = []

    init(_ request: HostResolver.Request) throws(ServiceFailure) {
      self.request = request
      // A, RFC 1035 section 3.2.2, and AAAA, RFC 3596 section 2.1.
      references = [
        try .addresses(of: request.name, type: 1), try .addresses(of: request.name, type: 28),
      ]
      deadline = .now + ResolverRun.patience
    }
  }

  private var queries: [Query] = []

  /// Each takes two D-Bus connections, of which a user may have 256.
  private static let maximumQueries = 8
  /// The draft allows a browser to answer late; by then ICE has most likely connected without it.
  private static let patience = Duration.seconds(5)
  /// A name has one address, or one of each family, and both come within milliseconds.
  private static let gathering = Duration.milliseconds(200)
  private static let maximumAddresses = 4

  /// Waits for replies or requests once. False when nothing is left to do.
  mutating func turn(taking take: (Int, Bool) -> [HostResolver.Request]?, wake: EventDescriptor) -> Bool {
    guard let requests = take(Self.maximumQueries - queries.count, queries.isEmpty) else { return false }
    for request in requests {
      // Without Avahi the name cannot be resolved.
      if let query = try? Query(request) { queries.append(query) }
    }
    guard let deadline = queries.map(\.deadline).min() else { return true }
    let owners = queries.flatMap { query in query.references.map { (query, $0) } }
    let ready = wake.wait(for: owners.map(\.1), limit: max(.zero, deadline - .now))
    for (index, (query, reference)) in owners.enumerated() where ready[index] { Self.takeReplies(of: reference, query) }
    queries.removeAll { $0.deadline <= .now }
    return true
  }

  private static func takeReplies(of reference: ServiceReference, _ query: Query) {
    for reply in reference.takeReplies() {
      switch reply {
      case .address(let ip, interface: _, isThere: true):
        // A link-local IPv6 address is ambiguous without its interface (RFC 4007 section 11), which ICE does not know.
        guard !ip.isUnspecified, !(ip.isIPv6 && ip.isLinkLocal), query.addresses.count < maximumAddresses,
          query.addresses.insert(ip).inserted
        else { continue }
        query.deadline = min(query.deadline, .now + gathering)
        query.request.found(ip)
      case .failed:
        query.deadline = .now
      case .registered, .found, .lost, .resolved, .address:
        break
      }
    }
  }
}
